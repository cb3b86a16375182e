"""What must hold after each fault, held against the answers that people had, what `hai` and the servers say,
the rows, and what the jobs wrote down themselves."""

import collections
import itertools
import time

from ledger import check_work, find_overlaps, read_ledger
from ha_load import STEP_SECONDS
from world import boot_now

CLOCK_SLACK = 0.5  # the server's wall clock against the ledgers'
Job = collections.namedtuple("Job", "id name state nodes ended")  # `ended` in boot time, 0 = not yet
Attempt = collections.namedtuple("Attempt", "job number state")


class Judge:
    clock_slack = CLOCK_SLACK

    def __init__(self, world, streams):
        self.world, self.streams = world, streams
        self.complaints = []
        self.may_repeat = False  # a store that went back may cost attempts

    def judge(self, is_end=False):
        """The complaints of now, [] if all holds, and (acknowledged, attempts). `is_end`: all
        workers have ended."""
        found = []
        acknowledged = [list(stream.acknowledged) for stream in self.streams]
        found += self.check_submits(acknowledged, self.world.admin.jobs())
        runs = self.read_ledgers(found)
        attempts = self.attempts()
        found += self.check_attempts(attempts)
        found += self.check_ledgers(runs, self.jobs())
        if is_end:
            found += self.check_all_done(runs, self.jobs())
        found += self.check_log()
        well, said = self.world.verify()
        if not well:
            found.append(f"hai-server verify: {said}")
        found += self.world.surprises
        self.world.surprises.clear()
        self.complaints += found
        return found, (sum(map(len, acknowledged)), len(attempts))

    def check_submits(self, acknowledged, jobs):
        """What was acknowledged before the jobs were listed is there once, as the job that was named;
        and nothing is there that nobody asked for."""
        by_name = {}
        for job in jobs:
            by_name.setdefault(job["name"], []).append(job["id"])
        for submit in itertools.chain(*acknowledged):
            ids = by_name.get(submit.name, [])
            if len(set(submit.answers)) != 1 or ids != submit.answers[:1]:
                yield f"{submit.name} was answered with {submit.answers}, there are jobs {ids}"
        tried = set().union(*(stream.tried for stream in self.streams))
        for name, ids in by_name.items():
            if len(ids) > 1:
                yield f"{name} became jobs {ids}"
            if name not in tried:
                yield f"{name}, jobs {ids}: nobody asked for it"

    def jobs(self):
        offset = time.time() - boot_now()
        rows = self.world.postgres.rows(
            "SELECT id, name, state, node_count, coalesce(extract(epoch FROM ended_at), 0) FROM job"
        )
        return {
            int(row[0]): Job(
                int(row[0]), row[1], row[2], int(row[3]), float(row[4]) and float(row[4]) - offset
            )
            for row in rows
        }

    def attempts(self):
        rows = self.world.postgres.rows("SELECT job, number, state FROM attempt ORDER BY 1, 2")
        return [Attempt(int(row[0]), int(row[1]), row[2]) for row in rows]

    def read_ledgers(self, found):
        runs = {}
        for path in sorted(self.world.ledgers.iterdir()):
            if path.name.isdigit():
                runs[int(path.name)], wrong = read_ledger(path)
                found += wrong
        return runs

    def check_attempts(self, attempts):
        """The store's troubles cost no job an attempt."""
        for attempt in attempts if not self.may_repeat else []:
            if attempt.state == "lost" or attempt.number > 1:
                yield f"an attempt too many, or lost: {attempt}"

    def check_ledgers(self, runs, jobs):
        """Read before the rows: whatever runs must be known."""
        for job, own in runs.items():
            for run, other, seconds in find_overlaps(own):
                yield f"{run} overlaps {other} by {seconds:.2f} s"
            row = jobs.get(job)
            if row is None:
                yield f"job {job} ran, and the store knows no such job"
            elif row.ended and own and max(run.last for run in own) > row.ended + self.clock_slack:
                yield f"job {job} ran on after its end"

    def check_all_done(self, runs, jobs):
        for submit in self.streams[1].acknowledged:
            row = jobs.get(submit.answers[0])
            if row is None or row.state != "succeeded":
                yield f"{submit.name} did not succeed: {row}"
                continue
            steps = max(1, round(submit.seconds / STEP_SECONDS))
            for complaint in check_work(runs.get(row.id, []), steps, row.nodes):
                yield f"{submit.name}: {complaint}"

    def check_log(self):
        rows = self.world.postgres.rows
        gaps = rows("SELECT max(seq) - min(seq) + 1 - count(*) FROM event")[0][0]
        if gaps != "0":
            yield f"the event log lacks {gaps} events"
        found = rows("SELECT body->>'epoch' FROM event WHERE kind = 'epoch_started' ORDER BY seq")
        epochs = [int(row[0]) for row in found]
        if epochs != sorted(set(epochs)):
            yield f"epochs do not only grow: {epochs}"
