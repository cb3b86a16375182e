#!/usr/bin/env python3
"""How long what people ask takes when the tables hold days of history: 200,000 jobs each.

A real job runs once; its rows and events are then copied by SQL as those of all jobs of a day, for one day
after the other, with users, names, times, some that failed and few with a rare tag. At each of --days the
server is started anew and asked; and how many pages PostgreSQL reads for it is told by EXPLAIN, whatever else
the machine does. What is not copied: the audit log, samples of a minute.

usage: growth.py [--days 1,10,30] [--jobs 200000] [--data DIR] [--tries 20]; HAI_BIN says where the programs are.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

from cluster import eventually, programs  # noqa: E402
from servers import Servers  # noqa: E402

USERS = 200
FAILED_EVERY = 20
RARE_EVERY = 500_000  # jobs, of one with the rare tag
STOP_SECONDS = 30
# The rest is as PostgreSQL comes. A crash while the tables are filled loses nothing that is missed.
SETTINGS = ("shared_buffers=1GB", "max_wal_size=4GB", "maintenance_work_mem=256MB", "fsync=off", "full_page_writes=off")


# What the server asks, in short: server/store/history_queries.cpp and pg_load.cpp. `*` stands for its columns.
READS = {
    "a start: requests": "SELECT id, user_name, request_id FROM job WHERE request_id <> ''"
    " AND id > (SELECT max(id) FROM job) - 50000 ORDER BY id DESC LIMIT 10000",
    "a start: unfinished jobs": "SELECT * FROM job WHERE state IN ('queued', 'running', 'suspended')",
    "newest 100 jobs": "SELECT * FROM job ORDER BY id DESC LIMIT 100",
    "1,000 jobs of the middle": "SELECT * FROM job WHERE id < {middle} ORDER BY id DESC LIMIT 1000",
    "100 of one of 200 users": "SELECT * FROM job WHERE user_name = 'user-7' ORDER BY id DESC LIMIT 100",
    "100 that failed": "SELECT * FROM job WHERE state = ANY('{{failed}}') ORDER BY id DESC LIMIT 100",
    "the oldest job": "SELECT * FROM job WHERE id = {oldest}",
    "its attempts": "SELECT * FROM attempt WHERE job = {oldest}",
    "its events": "SELECT * FROM event WHERE subject = 'job/{oldest}' ORDER BY seq LIMIT 100",
    "a job by its name": "SELECT * FROM job WHERE user_name = 'user-7' AND left(name, 200) COLLATE \"C\" ="
    " left('train-7', 200) AND name = 'train-7' ORDER BY id DESC LIMIT 1",
    "a page of a rare tag": "SELECT * FROM job WHERE 'rare' = ANY(tags) AND id < {middle} AND id >= {middle} - 200000"
    " ORDER BY id DESC LIMIT 100",
    "newest 100 events": "SELECT * FROM event ORDER BY seq DESC LIMIT 100",
}


class Filled:
    """The database of a server that has run one job."""

    def __init__(self, cluster, days, jobs):
        self.cluster, self.days_max, self.jobs = cluster, days, jobs
        self.days = 0
        self.job = int(cluster.exec("echo done", "--gpus", 1, "--tag", "copied"))
        cluster.wait_end(self.job)

    def sql(self, text):
        words = ["-h", self.cluster.database.data, "-U", "hai", "-d", "postgres", "-qAt", "-v", "ON_ERROR_STOP=1"]
        done = subprocess.run(["psql", *map(str, words), "-c", text], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return done.stdout.strip()

    def copy(self, table, alias, where, values, order="i"):
        """Rows of the job, once for each `i`, but for these values."""
        columns = self.sql(
            f"SELECT string_agg(quote_ident(column_name), ',' ORDER BY ordinal_position)"
            f" FROM information_schema.columns WHERE table_name = '{table}'"
        ).split(",")
        chosen = ", ".join(f"{values[c]} AS {c}" if c in values else f"{alias}.{c}" for c in columns)
        self.sql(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {chosen}"
            f" FROM generate_series(1, {self.jobs}) i, {table} {alias} WHERE {where} ORDER BY {order}"
        )

    def add_day(self):
        """The oldest day comes first: rows lie as they would have been written."""
        first = int(self.sql("SELECT max(id) FROM job"))
        day = f"(now() - interval '{self.days_max - self.days} days' - interval '1 hour')"
        at = f"({day} + i * interval '1 day' / {self.jobs})"
        job = f"({first} + i)"
        self.copy("job", "t", f"t.id = {self.job}", {
            "id": job,
            "name": f"'train-' || i % 5000",
            "user_name": f"'user-' || i % {USERS}",
            "state": f"CASE WHEN i % {FAILED_EVERY} = 0 THEN 'failed' ELSE 'succeeded' END",
            "tags": f"CASE WHEN {job} % {RARE_EVERY} = 0 THEN ARRAY['rare'] ELSE ARRAY['copied'] END",
            "request_id": "''",
            "submitted_at": at,
            "started_at": f"{at} + interval '1 minute'",
            "ended_at": f"{at} + interval '30 minutes'",
        })  # fmt: skip
        self.copy("attempt", "t", f"t.job = {self.job}", {
            "job": job,
            "placed_at": at,
            "running_at": f"{at} + interval '1 minute'",
            "ended_at": f"{at} + interval '30 minutes'",
        })  # fmt: skip
        self.copy("rank", "t", f"t.job = {self.job}", {"job": job})
        self.copy_events(job, at)
        self.sql(
            "INSERT INTO history_hour (at, submitted, succeeded, total_gpu_seconds, used_gpu_seconds)"
            f" SELECT date_trunc('hour', {day}) + n * interval '1 hour', {self.jobs} / 24, {self.jobs} / 24, 28800, 20000"
            " FROM generate_series(0, 23) n ON CONFLICT DO NOTHING"
        )
        self.days += 1

    def copy_events(self, job, at):
        seq = int(self.sql("SELECT max(seq) FROM event"))
        self.sql(
            "INSERT INTO event (seq, time, actor, kind, subject, body)"
            f" SELECT {seq} + row_number() OVER (ORDER BY i, t.seq), {at}, t.actor, t.kind, 'job/' || {job},"
            f" jsonb_set(t.body, '{{job}}', to_jsonb({job}))"
            f" FROM generate_series(1, {self.jobs}) i, event t WHERE t.subject = 'job/{self.job}' AND t.seq <= {seq}"
        )
        # What counts hours has done so: one who asks is not to wait for that.
        self.sql(
            "UPDATE cluster_epoch SET last_seq = (SELECT max(seq) FROM event);"
            " UPDATE history_cursor SET seq = (SELECT max(seq) FROM event), at = now()"
        )

    def settle(self):
        """As autovacuum would have left it."""
        for table in ("job", "attempt", "rank", "event"):
            self.sql(f"VACUUM (ANALYZE) {table}")
        self.sql("CHECKPOINT")

    def pages(self):
        """What each of READS reads: pages of 8 KB, whether they were in memory or not."""
        newest = int(self.sql("SELECT max(id) FROM job"))
        found = {}
        for what, query in READS.items():
            query = query.format(middle=newest // 2, oldest=self.job + 1)
            plan = self.sql(f"SET enable_seqscan = off; EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) {query}")
            buffers = next(line for line in plan.splitlines() if "Buffers: shared" in line)
            found[what] = sum(int(count) for count in re.findall(r"(?:hit|read)=(\d+)", buffers))
        return found

    def bytes(self):
        return int(self.sql("SELECT pg_database_size('postgres')"))


def start(cluster):
    """Seconds until it leads, and until a submit is acknowledged."""
    server = cluster.servers[0]
    spec = json.dumps(cluster.spec(f"start-{time.monotonic()}", "/bin/true"))
    began = time.monotonic()
    server.start()
    eventually("it leads", server.ready, 300)
    led = time.monotonic() - began
    eventually("a submit is taken", lambda: server.get("/api/v1/jobs", "POST", spec, seconds=60)[0] == 201, 60)
    return led, time.monotonic() - began


def stop(cluster):
    cluster.servers[0].process.terminate()
    cluster.servers[0].process.wait(timeout=STOP_SECONDS)


def questions(filled):
    """(what, path) of what people ask, of the newest day and of the oldest."""
    newest = int(filled.sql("SELECT max(id) FROM job WHERE user_name LIKE 'user-%'"))
    oldest = filled.job + 1
    middle = (newest + oldest) // 2
    finished = "jobs?finished=true&limit=100"
    return [
        ("what waits and runs", "jobs"),
        ("newest 100 jobs", finished),
        ("100 jobs of the middle", f"{finished}&cursor={middle}"),
        ("newest 100 jobs of one of 200 users", f"{finished}&user=user-7"),
        ("newest 100 that failed (1 of 20)", f"{finished}&state=failed"),
        ("those with a tag of 1 in 500,000", f"{finished}&tag=rare"),
        ("those of a group that has none", f"{finished}&group=nobody"),
        ("the oldest job", f"jobs/{oldest}"),
        ("… its attempts", f"jobs/{oldest}/attempts"),
        ("… its events", f"jobs/{oldest}/events"),
        ("newest 100 events", "events?format=list&limit=100"),
        ("what happened day by day", "history?step=1d"),
    ]


def ask(cluster, path, tries):
    server = cluster.servers[0]
    seconds, answers = [], set()
    for _ in range(tries):
        began = time.monotonic()
        status, _, text = server.get("/api/v1/" + path, seconds=60)
        seconds.append(time.monotonic() - began)
        answers.add(status)
        if status != 200 or seconds[-1] > 5:
            print(f"  {path}: {status} after {seconds[-1]:.1f} s: {text[:160]}", file=sys.stderr)
            break
    return {"status": sorted(answers), "first_ms": round(seconds[0] * 1000, 1),
            "p50_ms": round(statistics.median(seconds) * 1000, 1), "max_ms": round(max(seconds) * 1000, 1)}  # fmt: skip


def sacct(cluster, filled, words):
    began = time.monotonic()
    done = subprocess.run(
        [str(programs() / "hai-slurm"), "sacct", *words], env=cluster.environment(), capture_output=True, text=True
    )
    return {"seconds": round(time.monotonic() - began, 1), "code": done.returncode,
            "rows": len(done.stdout.splitlines()), "said": done.stderr.strip()[:160]}  # fmt: skip


def measure(cluster, filled, tries):
    # Shared buffers are empty, the machine's cache is not.
    cluster.database.stop()
    cluster.database.start()
    led, decided = start(cluster)
    found = {"days": filled.days, "jobs": filled.days * filled.jobs, "gigabytes": round(filled.bytes() / 1e9, 2),
             "led_s": round(led, 2), "submit_s": round(decided, 2), "resident_mb": cluster.servers[0].resident_bytes() >> 20}  # fmt: skip
    for what, path in questions(filled):
        found[what] = ask(cluster, path, tries)
    newest = filled.sql("SELECT to_char(max(submitted_at) - interval '1 day', 'YYYY-MM-DD') FROM job WHERE user_name LIKE 'user-%'")
    oldest = filled.sql("SELECT to_char(min(submitted_at) + interval '1 hour', 'YYYY-MM-DD') FROM job WHERE user_name LIKE 'user-%'")
    for what, day in (("newest", newest), ("oldest", oldest)):
        period = ["-S", day, "-E", day + "T23:59:59", "-X", "-n", "-P", "-o", "JobID,User,State,Start,End"]
        found[f"sacct of one user, {what} day"] = sacct(cluster, filled, ["-u", "user-7", *period])
        found[f"sacct -a, {what} day"] = sacct(cluster, filled, ["-a", *period])
    stop(cluster)
    found["pages"] = filled.pages()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", default="1,10,30")
    parser.add_argument("--jobs", type=int, default=200_000, help="of a day")
    parser.add_argument("--data", help="folder for the database")
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    wanted = sorted(int(days) for days in options.days.split(","))
    cluster = Servers(count=1, nodes=1, settings=SETTINGS, data=options.data)
    results = []
    try:
        cluster.up()
        filled = Filled(cluster, wanted[-1], options.jobs)
        cluster.agents["node-1"].terminate()
        stop(cluster)
        for days in wanted:
            began = time.monotonic()
            while filled.days < days:
                filled.add_day()
            filled.settle()
            print(f"{days} days, {filled.bytes() / 1e9:.1f} GB, filled in {time.monotonic() - began:.0f} s", file=sys.stderr)
            results.append(measure(cluster, filled, options.tries))
            print(json.dumps(results[-1]), flush=True)
    finally:
        cluster.close()
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
