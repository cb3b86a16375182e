"""The verdict: what people were promised, held against what the jobs wrote down, the database's rows
and the machine's own process list. Each check gives complaints; none means it holds.
"""

import subprocess

from cgroups import cgroups_of
from faults import NO_RANK_MAY_DIE, OF_CONTROL_PLANE
from ledger import check_log, check_work, find_overlaps, find_shared_gpus, read_ledger
from load import TERMINAL
from processes import all_pids, command_of
from world import FENCE

SETTLES_WITHIN = 40.0  # after a fault its node may still lose ranks for so long
# A machine that was frozen wakes up: until its timers have run, its ranks run, too.
WAKE_UP = 0.7
CLOCK_SLACK = 0.5  # server's wall clock readings against the ledgers'
RANK_STEP_SECONDS = 0.4
FENCED_WITHIN = 2.0  # of its time, on a busy machine


def is_loss_of_lines(fault):
    """Of a shim or a disk; of a machine that had the node's name for a while, with all its logs."""
    is_machine = fault.kind == "impostor" and not fault.let_nobody_in()
    return is_machine or fault.kind in ("kill_shim", "kill_node", "full_disk_node")


# What keeps an agent from answering its peers, or from a lease that it could tell of.
SILENCE_AN_AGENT = {
    "kill_agent", "pause_agent", "agent_stopped", "kill_node", "pause_node", "cut_node",
    "cut_node_in", "cut_node_out", "cut_node_servers", "cut_leaf", "impostor", "restart_agents",
}


class Judge:
    def __init__(self, world, load, faults, truth, knows_peers):
        self.world, self.load, self.faults, self.truth = world, load, faults, truth
        self.knows_peers = knows_peers
        self.runs, self.complaints = {}, {}
        for path in sorted(world.ledgers.iterdir()):
            if path.name.isdigit():
                self.runs[int(path.name)], wrong = read_ledger(path)
                self.complain("the ledgers make sense", wrong)

    def complain(self, check, complaints):
        self.complaints.setdefault(check, []).extend(complaints)

    def is_content(self):
        return not any(self.complaints.values())

    def judge(self):
        for name, check in (
            ("each acknowledged job has one outcome", self.check_outcomes),
            ("one request id is one job", self.check_requests),
            ("no two attempts of a job overlap", self.check_overlaps),
            ("no GPU is given twice", self.check_gpus),
            ("the work is done, and counted once", self.check_work),
            ("nothing runs after its end", self.check_ends),
            ("rows and ledgers agree", self.check_rows),
            ("no needless kill", self.check_kills),
            ("shims fence without their agent", self.check_fences),
            ("no second agent beside a node's own", self.check_impostors),
            ("logs have every line once", self.check_logs),
            ("hai list and the database agree", self.check_listing),
        ):
            self.complain(name, check())
        return self.complaints

    # -- promises

    def check_outcomes(self):
        for request in self.load.requests:
            row = self.truth.jobs.get(request.job)
            if request.refused:
                yield f"{request.name}: refused: {request.refused}"
            if not request.job:
                continue
            if row is None or row.name != request.name:
                yield f"{request.name}: acknowledged as job {request.job}, which is {row}"
            elif row.state not in TERMINAL:
                yield f"{request.name}: job {row.id} is {row.state}, {request.shape}"
            elif row.state not in request.expected:
                yield f"{request.name}: job {row.id} {row.state} ({row.reason}), {request.shape}"
            elif row.state == "failed" and row.exit_code != request.exit_code:
                yield f"{request.name}: exit code {row.exit_code}, not {request.exit_code}"

    def check_requests(self):
        names = {}
        for row in self.truth.jobs.values():
            names.setdefault(row.name, []).append(row.id)
        known = {request.name for request in self.load.requests}
        for request in self.load.requests:
            if len(set(request.answers)) > 1:
                yield f"{request.name}: answered with jobs {request.answers}"
        for name, ids in names.items():
            if len(ids) > 1:
                yield f"{name} became jobs {ids}"
            if name not in known:
                yield f"job {ids} {name}: nobody asked for it"

    # -- ground truth

    def is_waking(self, other, began):
        """Did `other` sleep on a frozen node when `began` came, and die as soon as it woke up?"""
        slept, woke = other.asleep
        return (
            slept <= began
            and other.last - woke <= WAKE_UP
            and any(
                fault.kind == "pause_node" and fault.touches([other.node], slept, woke, after=1.0)
                for fault in self.faults
            )
        )

    def check_overlaps(self):
        for runs in self.runs.values():
            for run, other, seconds in find_overlaps(runs):
                if not self.is_waking(other, run.first):
                    yield f"{run} overlaps {other} by {seconds:.2f} s"

    def check_gpus(self):
        everything = [run for runs in self.runs.values() for run in runs]
        for run, other, node, gpu in find_shared_gpus(everything):
            if run.job == other.job and run.attempt == other.attempt:
                yield f"{run} and rank {other.rank} share gpu {gpu}"
            elif not self.is_waking(other, run.first):
                yield f"gpu {gpu} of {node} is held by {run} and {other}"

    def check_work(self):
        for request in self.load.requests:
            row = self.truth.jobs.get(request.job)
            if row is None or row.state not in ("succeeded", "failed"):
                continue
            if row.state == "failed":  # The first rank that fails takes the others along.
                if not any(run.lines for run in self.runs.get(row.id, [])):
                    yield f"job {row.id} failed, and no rank came to its end"
                continue
            seconds = float(request.spec["spec"]["parameters"].split()[-3])
            steps = max(1, round(seconds / RANK_STEP_SECONDS))
            for complaint in check_work(self.runs.get(row.id, []), steps, row.nodes):
                yield f"job {row.id} ({row.state}): {complaint}"

    def check_ends(self):
        for job, runs in self.runs.items():
            row = self.truth.jobs.get(job)
            for run in runs:
                if row and row.ended and run.last > row.ended + CLOCK_SLACK:
                    yield f"{run}: runs after its job ended at {row.ended:.1f}"
                attempt = self.truth.attempts.get((job, run.attempt))
                if attempt and attempt.ended and run.last > attempt.ended + CLOCK_SLACK:
                    if not self.is_waking(run, attempt.ended):
                        yield f"{run}: runs after its attempt ended: {attempt}"

    def check_rows(self):
        for job, runs in self.runs.items():
            for run in runs:
                attempt = self.truth.attempts.get((job, run.attempt))
                if attempt is None:
                    yield f"{run}: there is no such attempt in the database"
                    continue
                nodes = {rank.rank: rank.node for rank in attempt.ranks}
                if nodes.get(run.rank) != run.node:
                    yield f"{run}: the database has it on {nodes.get(run.rank)}"
        for row in self.truth.jobs.values():
            if row.state == "succeeded" and row.id not in self.runs:
                yield f"job {row.id} succeeded and never ran"

    def check_kills(self):
        """An attempt that was lost needs a fault that hit one of its nodes, or most of the peers of one."""
        for attempt in self.truth.attempts.values():
            if attempt.state != "lost" or not attempt.running:
                continue
            if not self.blame(attempt) and not self.could_not_ask(attempt):
                yield f"needlessly lost: {attempt}"

    def could_not_ask(self, attempt):
        """Whose lease is dead lives on only if a majority of its peers can say that theirs are, too (design 0005)."""
        fenced = {rank.rank for rank in attempt.ranks if rank.cause == "fenced"}
        for run in self.runs.get(attempt.job, []):
            if run.attempt != attempt.number or run.rank not in fenced:
                continue
            lists = [named for at, named in self.truth.peers.get(run.node, []) if at < run.last]
            if not lists:
                return True  # it knew nobody yet
            silenced = [peer for peer in lists[-1] if self.is_silenced(peer, run.last)]
            if 2 * (len(lists[-1]) - len(silenced)) <= len(lists[-1]):
                return True
        return False

    def is_silenced(self, peer, at):
        return any(
            fault.kind in SILENCE_AN_AGENT and fault.touches([peer], at - FENCE, at)
            for fault in self.faults
        )

    def blame(self, attempt):
        nodes = [rank.node for rank in attempt.ranks]
        for fault in self.faults:
            if fault.kind in NO_RANK_MAY_DIE and self.knows_peers or fault.let_nobody_in():
                continue
            hosts = self.world.nodes if fault.kind in OF_CONTROL_PLANE else nodes
            if fault.kind in OF_CONTROL_PLANE and fault.began and fault.seconds > 1:
                if fault.began < attempt.ended < (fault.ended or 1e18) + SETTLES_WITHIN:
                    return fault
            if fault.touches(hosts, attempt.placed, attempt.ended, after=SETTLES_WITHIN):
                if any(host in nodes for host in fault.hosts):
                    return fault
        return None

    def check_fences(self):
        """While an agent stands still nobody prolongs its ranks' lives."""
        for fault in self.faults:
            if fault.kind != "agent_stopped" or not fault.began:
                continue
            fenced = fault.began + FENCE + FENCED_WITHIN
            for run in (run for runs in self.runs.values() for run in runs):
                if run.node == fault.hosts[0] and run.first < fault.began and run.last > fenced:
                    if not fault.ended or fault.ended > fenced:
                        yield f"{run}: its agent stood still from {fault.began:.1f} on"

    def check_impostors(self):
        """One that was refused said so; one that got in had a node that was given up."""
        for fault in self.faults:
            if fault.kind != "impostor" or not fault.ended:
                continue
            if fault.note == "beside: got in" and not self.was_down(fault):
                yield f"{fault}: its node was never down"

    def was_down(self, fault):
        began, ended = fault.began - SETTLES_WITHIN, fault.ended
        return any(
            node == fault.hosts[0] and began < at < ended for node, at in self.truth.downs
        )

    # -- logs and lists

    def check_logs(self):
        for runs in self.runs.values():
            for run in runs:
                path = f"/api/v1/jobs/{run.job}/logs?rank={run.rank}&attempt={run.attempt}"
                try:
                    wrong = check_log(self.world.admin.text(path), run)
                except Exception as error:
                    wrong = repr(error)
                if wrong and not self.may_lose_lines(run):
                    yield f"{run}: {wrong}"

    def may_lose_lines(self, run):
        """Lines die with the shim that held them in its hands, and on a full disk."""
        return any(
            is_loss_of_lines(fault)
            and fault.touches([run.node], run.first, run.last + 1)
            for fault in self.faults
        )

    def check_listing(self):
        for job in self.world.admin.jobs():
            row = self.truth.jobs.get(job["id"])
            if row is None or (row.state, row.name, row.attempts) != (
                job["state"],
                job["name"],
                job["attempt"],
            ):
                yield f"job {job['id']}: {job['state']} attempt {job['attempt']}, but {row}"

    # -- after everything was stopped

    def verify_log(self):
        """`hai-server verify`: events played from zero give the stored rows."""
        program = self.world.programs / "hai-server"
        config = self.world.root / "server-a.yaml"
        said = subprocess.run([program, "--help"], capture_output=True, text=True).stdout
        if "verify" not in said:
            return False
        done = subprocess.run(
            [program, "--config", config, "verify"], capture_output=True, text=True, timeout=120
        )
        wrong = [] if done.returncode == 0 else [done.stdout[-2000:] + done.stderr[-2000:]]
        self.complain("the event log gives the rows", wrong)
        return True

    def check_leftovers(self, known):
        """Of processes: `known` may still be there. Of cgroups: none with a rank's name."""
        left = [f"{pid}: {command_of(pid)}" for pid in all_pids() if pid not in known]
        self.complain("no process is left", left)
        self.complain("no cgroup is left", cgroups_of(self.world))
