#!/usr/bin/env python3
"""The scenarios S0 to S6 on hai; one JSON object a line. What each does is in slurm_scenarios.py:
the same jobs (workload.py), sizes and ways of measuring. HAI_BIN says where the programs are.

usage: hai_scenarios.py [S1,S2,...]; SIDE_BY_SIDE_NODES (1250), _JOBS (10000), _REPS (3)
"""

import json
import os
import statistics
import subprocess
import sys
import time

import workload
from hai_cluster import HaiCluster, Meter, eventually, memory_of, programs

NODES = int(os.environ.get("SIDE_BY_SIDE_NODES", "1250"))
JOBS = int(os.environ.get("SIDE_BY_SIDE_JOBS", "10000"))
REPS = int(os.environ.get("SIDE_BY_SIDE_REPS", "3"))
S2_REPS = int(os.environ.get("SIDE_BY_SIDE_S2_REPS", "1"))  # as Slurm: 10,000 jobs each
REAL_NODES = int(os.environ.get("SIDE_BY_SIDE_REAL_NODES", "64"))
REAL_JOBS = int(os.environ.get("SIDE_BY_SIDE_REAL_JOBS", "1000"))
LEAD_SECONDS = 20  # to load a queue whose jobs may begin later


def emit(**row):
    print(json.dumps({**row, "load1": round(os.getloadavg()[0], 2)}), flush=True)


def median_rows(rows):
    return {
        key: round(statistics.median(row[key] for row in rows), 3)
        for key, value in rows[0].items()
        if isinstance(value, (int, float))
    }


def quantile(values, share):
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * (len(ordered) - 1) + 0.5))], 2)


def quiet(cluster):
    """Until what came before is digested."""
    eventually("it is quiet", lambda: Meter(cluster) and is_quiet(cluster), 60)


def is_quiet(cluster):
    meter = Meter(cluster)
    time.sleep(0.5)
    row = meter.read()
    return row["server_cpu_ms_per_job"] + row["nodes_cpu_ms_per_job"] < 150


def s0_start():
    began = time.time()
    cluster = HaiCluster(NODES)
    cluster.database.start()
    cluster.server.start()
    eventually("it leads", cluster.leader)
    led = time.time()
    cluster.start_agent("node-1")
    eventually("all nodes are up", lambda: cluster.nodes_up() == NODES, 60)
    up = time.time()
    time.sleep(10)
    meter = Meter(cluster)
    time.sleep(10)
    row = meter.read()
    emit(
        scenario="S0", what="start", nodes=NODES, ctld_up_s=round(led - began, 2),
        all_idle_s=round(up - led, 2), ctld_rss_mb=row["server_rss_mb"],
        idle_core_percent=round(row["server_cpu_ms_per_job"] / 100, 2),
        node_mb=round(memory_of(cluster.agents["node-1"].pid)["VmRSS"] / NODES, 3),
    )
    return cluster


def exec_command(cluster):
    return [str(programs() / "hai"), "exec", "sleep", "1", "--", "-n", "1", "-p", "low"]


def s1_submit(cluster):
    count = 2_000
    cluster.fill("extreme_high")  # accepted, eligible, no node free
    environment = cluster.environment()

    def by_program():
        line = f"seq {count} | xargs -P4 -I{{}} {' '.join(exec_command(cluster))}"
        subprocess.run(["sh", "-c", line], check=True, env=environment, capture_output=True)

    def by_grpc(clients, jobs=count, *words):
        return lambda: cluster.load(
            "submit", "--prefix", cluster.new_prefix(), "--jobs", jobs, "--clients", clients, *words
        )

    far = ["--begin-at", int(time.time()) + 864_000]
    ways = (
        ("cli_x4_processes", count, by_program),
        ("grpc_1_client", count, by_grpc(1)),
        ("grpc_4_clients", count, by_grpc(4)),
        ("grpc_16_clients", count, by_grpc(16)),
        ("grpc_16_clients_20000_jobs", 20_000, by_grpc(16, 20_000)),
        ("grpc_1_client_not_eligible", count, by_grpc(1, count, *far)),
        ("grpc_4_clients_1000_per_call", 50_000, by_grpc(4, 50_000, "--batch", 1000)),
    )
    runs = {}
    for _ in range(REPS):
        for name, jobs, submit in ways:
            quiet(cluster)
            meter = Meter(cluster)
            answer = submit()
            row = meter.read(jobs)
            row["jobs_per_s"] = round(jobs / row["wall_s"], 1)
            if answer:
                row["jobs_per_s"] = answer["jobs_per_s"]
                row["submit_p50_ms"], row["submit_p99_ms"] = answer["p50_ms"], answer["p99_ms"]
            runs.setdefault(name, []).append((jobs, row))
    for name, rows in runs.items():
        rates = [row["jobs_per_s"] for _, row in rows]
        emit(
            scenario="S1", what=name, jobs=rows[0][0], reps=rates,
            **median_rows([row for _, row in rows]),
        )


def count_in_store(cluster, prefix):
    """{state: jobs} and the number of attempts, from the database."""
    like = f"name LIKE '{prefix}-%'"
    states = cluster.database.sql(f"SELECT state, count(*) FROM job WHERE {like} GROUP BY 1")
    attempts = cluster.database.sql(
        f"SELECT count(*) FROM attempt WHERE job IN (SELECT id FROM job WHERE {like})"
    )
    return dict(line.split("|") for line in states.splitlines()), int(attempts)


def drain(cluster, rows, what, entrypoint="/bin/sleep"):
    """A queue that may begin at one moment: how fast it is started and has ended."""
    prefix = cluster.new_prefix()
    begin_at = int(time.time()) + LEAD_SECONDS
    loaded = cluster.load(
        "submit", "--prefix", prefix, "--shapes", cluster.shapes(rows), "--clients", 4,
        "--batch", 100, "--entrypoint", entrypoint, "--begin-at", begin_at,
    )
    before = cluster.jobs()
    assert before["queued"] == len(rows), before
    time.sleep(max(0, begin_at - 1 - time.time()))
    meter = Meter(cluster)
    time.sleep(max(0, begin_at - time.time()))
    trace = []
    while not trace or trace[-1][2] > 0:
        jobs = cluster.jobs()
        queued = jobs.get("queued", 0) + jobs.get("suspended", 0)
        trace.append((time.time() - begin_at, len(rows) - queued, queued + jobs.get("running", 0)))
        time.sleep(0.1)
        if trace[-1][0] > 600:
            raise RuntimeError(f"not drained after 10 min: {jobs}")
    cpu = meter.read(len(rows))
    wall = trace[-1][0]
    first = next(each for each in trace if each[1] >= 0.1 * len(rows))
    last = next(each for each in trace if each[1] >= 0.9 * len(rows))
    states, attempts = count_in_store(cluster, prefix)
    node_seconds = sum(nodes * seconds for nodes, seconds in rows)
    nodes = cluster.fleet or cluster.nodes
    return {
        "scenario": "S2", "what": what, "nodes": nodes, "jobs": len(rows),
        "completed": int(states.get("succeeded", 0)), "attempts": attempts, **cpu,
        "wall_s": round(wall, 2), "jobs_per_s": round(len(rows) / wall, 1),
        "steady_started_per_s": round((last[1] - first[1]) / max(0.1, last[0] - first[0]), 1),
        "node_util": round(node_seconds / nodes / wall, 3),
        "ideal_wall_s": round(node_seconds / nodes, 1),
        "loaded_per_s": loaded["jobs_per_s"],
    }


def s2_drain(cluster):
    for rep in range(S2_REPS):
        quiet(cluster)
        emit(**drain(cluster, workload.mixed(JOBS, 100 + rep), "drain"))


def s2b_churn(cluster):
    """The same queue of jobs that end as soon as they run: what the controller alone can do."""
    for rep in range(S2_REPS):
        quiet(cluster)
        rows = workload.mixed(JOBS, 200 + rep)
        emit(**{**drain(cluster, rows, "ends_at_once", "/bin/true"), "scenario": "S2b"})


def s2r_real():
    """Real agents, shims and processes, as Slurm's nodes are; fewer of them."""
    cluster = HaiCluster(REAL_NODES, fleet=False)
    try:
        cluster.up()
        for rep in range(S2_REPS):
            quiet(cluster)
            rows = workload.mixed(REAL_JOBS, 300 + rep, seconds=(0, 0))
            emit(**{**drain(cluster, rows, "real_processes"), "scenario": "S2r"})
    finally:
        cluster.close()


def s3_latency(cluster):
    for nodes, tries in ((1, 50), (64, 20), (1_000, 10)):
        if nodes > NODES:
            continue
        quiet(cluster)
        times = cluster.load(
            "latency", "--prefix", cluster.new_prefix(), "--nodes", nodes, "--tries", tries
        )
        emit(
            scenario="S3", what="submit_to_running", nodes=nodes, tries=tries,
            ack_p50_ms=quantile(times["ack"], 0.5), ack_p99_ms=quantile(times["ack"], 0.99),
            p50_ms=quantile(times["run"], 0.5), p99_ms=quantile(times["run"], 0.99),
            max_ms=max(times["run"]),
        )


def s4_preempt(cluster):
    big = 512 * NODES // 1250
    runs = []
    for _ in range(REPS):
        cluster.fill("low")
        time.sleep(3)
        meter = Meter(cluster)
        began = time.time()
        job = cluster.exec("sleep 900", "-n", big, "-p", "high")
        acknowledged = time.time() - began

        def is_running(job=job):
            _, _, text = cluster.server.get(f"/api/v1/jobs/{job}")
            return json.loads(text)["attempt_state"] == "running"

        while not is_running():
            if time.time() - began > 150:
                raise RuntimeError("the big job does not run")
            time.sleep(0.02)
        ran = time.time() - began
        row = meter.read()
        runs.append({**row, "ack_s": acknowledged, "run_s": ran,
                     "requeued": cluster.jobs().get("suspended", 0)})
        cluster.stop_all()
    emit(
        scenario="S4", what="preempt", fill_nodes=NODES, preemptor_nodes=big,
        reps=[round(run["run_s"], 3) for run in runs], requeued=[run["requeued"] for run in runs],
        run_s=round(statistics.median(run["run_s"] for run in runs), 3),
        controller_cpu_s=round(statistics.median(run["controller_cpu_s"] for run in runs), 3),
    )


def job_states(cluster):
    """{id: state} of the unfinished jobs, as the server says."""
    found, cursor = {}, ""
    while True:
        path = f"/api/v1/jobs?limit=1000{cursor}"
        status, _, text = cluster.server.get(path, seconds=60)
        assert status == 200, text
        page = json.loads(text)
        found.update({job["id"]: job["state"] for job in page["jobs"]})
        if not page.get("next_cursor"):
            return found
        cursor = f"&cursor={page['next_cursor']}"


def answers(cluster):
    return bool(cluster.hai("list").out.strip())


def restart(cluster):
    """kill -9, start again: seconds until `hai list` answers."""
    cluster.server.kill()
    began = time.time()
    cluster.server.start()
    while not answers(cluster):
        time.sleep(0.01)
    return time.time() - began


def s5_restart(cluster):
    cluster.fill("low")
    rows = [(nodes, 600) for nodes, _ in workload.mixed(JOBS, 7)]
    answer = cluster.load(
        "submit", "--prefix", cluster.new_prefix(), "--shapes", cluster.shapes(rows),
        "--clients", 1, "--entrypoint", "/bin/sleep", "--priority", "low",
    )
    emit(scenario="S5", what="submit_while_running", jobs=JOBS, jobs_per_s=answer["jobs_per_s"],
         p50_ms=answer["p50_ms"], p99_ms=answer["p99_ms"])
    runs = []
    for _ in range(REPS):
        before = job_states(cluster)
        took = restart(cluster)
        eventually("nodes are back", lambda: cluster.nodes_up() == NODES, 60)
        after = job_states(cluster)
        runs.append((took, [job for job in before if job not in after],
                     [job for job in before if before[job] == "running" != after.get(job)]))
        time.sleep(3)
    emit(
        scenario="S5", what="kill9_restart", jobs=len(before), reps=[round(r[0], 3) for r in runs],
        squeue_answers_s=round(statistics.median(r[0] for r in runs), 3),
        lost=[len(r[1]) for r in runs], running_no_longer_running=[len(r[2]) for r in runs],
    )
    lost = []
    for _ in range(REPS):
        prefix = cluster.new_prefix()
        cluster.load("submit", "--prefix", prefix, "--jobs", 200, "--clients", 1)
        restart(cluster)
        kept = cluster.database.sql(f"SELECT count(*) FROM job WHERE name LIKE '{prefix}-%'")
        lost.append(200 - int(kept))
    emit(scenario="S5", what="ack_then_kill9", submitted=200, lost=lost)


def timed(action, tries):
    times = []
    for _ in range(tries):
        began = time.time()
        action()
        times.append((time.time() - began) * 1e3)
    return {"tries": tries, "p50_ms": quantile(times, 0.5), "p99_ms": quantile(times, 0.99)}


def s6_query(cluster):
    eventually("nodes are back", lambda: cluster.nodes_up() == NODES, 60)
    states = job_states(cluster)
    first, last = min(states), max(states)

    def report(what, action, tries):
        emit(scenario="S6", what=what, jobs=len(states), **timed(action, tries))

    report("list_all", lambda: cluster.ok("list", "-a"), 20)
    report("status_one", lambda: cluster.ok("status", last), 50)
    report("nodes", lambda: cluster.ok("nodes"), 20)
    report("rest_ping", lambda: cluster.server.get("/readyz"), 20)
    report("rest_job_one", lambda: cluster.server.get(f"/api/v1/jobs/{last}"), 50)
    report("rest_jobs_all", lambda: job_states(cluster), 5)
    answer = cluster.load("get", "--first", first, "--last", last)
    emit(scenario="S6", what="grpc_get_job", jobs=len(states), **answer)


def main():
    scenarios = {
        "S3": s3_latency, "S2": s2_drain, "S2b": s2b_churn, "S1": s1_submit, "S4": s4_preempt,
        "S5": s5_restart, "S6": s6_query,
    }
    asked = sys.argv[1].split(",") if len(sys.argv) > 1 and sys.argv[1] else [*scenarios, "S2r"]
    if set(asked) - set(scenarios) - {"S0", "S2r"}:
        sys.exit(f"known are S0, S2r, {', '.join(scenarios)}")
    cluster = s0_start()
    try:
        for name, scenario in scenarios.items():
            if name not in asked:
                continue
            try:
                scenario(cluster)
            except Exception as error:  # a scenario that fails is a result, too
                emit(scenario=name, error=f"{type(error).__name__}: {error}"[:400])
            if name in ("S1", "S4") or (name == "S5" and "S6" not in asked):
                cluster.stop_all()
    finally:
        cluster.close()
    if "S2r" in asked:
        s2r_real()


if __name__ == "__main__":
    main()
