"""A whole hai on this machine for measurements: PostgreSQL with fsync on, one hai-server, and nodes:
a fleet (real connections, pretended ranks) or real agents with real shims."""

import json
import os
import pathlib
import resource
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "e2e"))

from cluster import eventually, programs  # noqa: E402
from servers import Servers  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
KNOBS = ", max_unfinished_jobs_per_user: 2000000"


def stat_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def cpu_of(pid, with_ended_children=False):
    """CPU seconds of a process."""
    fields = stat_of(pid)
    if fields is None:
        return 0
    last = 15 if with_ended_children else 13
    return sum(map(int, fields[11:last])) / TICKS


def memory_of(pid):
    """{VmRSS, VmHWM} in MB."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    rows = dict(line.split(":", 1) for line in lines)
    return {key: int(rows[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM")}


def machine_cpu():
    fields = list(map(int, open("/proc/stat").readline().split()[1:9]))
    return (sum(fields) - fields[3] - fields[4]) / TICKS


def descendants_cpu(roots):
    """Of these processes and all below them, with what has ended there."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            fields = stat_of(entry.name)
            if fields:
                parents.setdefault(int(fields[1]), []).append(int(entry.name))
    total, waiting = 0, list(roots)
    while waiting:
        pid = waiting.pop()
        total += cpu_of(pid, with_ended_children=True)
        waiting += parents.get(pid, [])
    return total


class HaiCluster(Servers):
    def __init__(self, nodes, fleet=True, knobs="", polite=False):
        super().__init__(
            count=1, nodes=nodes, fleet=nodes if fleet else 0, knobs=KNOBS + knobs, heartbeat="5s",
            polite=polite,
        )
        self.prefix = 0
        # CPU of nodes with all they start, also what has ended; Slurm's side does the same.
        self.cgroup = pathlib.Path(f"/sys/fs/cgroup/cpuacct/hai-bench-{os.getpid()}")
        if fleet:
            self.cgroup = None
        else:
            self.agent_options = "cgroups: false\n"  # else ranks would leave that group
            self.cgroup.mkdir()

    def start_agent(self, name):
        super().start_agent(name)
        if self.cgroup:
            (self.cgroup / "cgroup.procs").write_text(str(self.agents[name].pid))

    def close(self):
        super().close()
        if self.cgroup:
            self.cgroup.rmdir()

    def nodes_cpu(self):
        if self.cgroup:
            return int((self.cgroup / "cpuacct.usage").read_text()) / 1e9
        return descendants_cpu([agent.pid for agent in self.agents.values()])

    @property
    def server(self):
        return self.servers[0]

    def load(self, *words, wait=True, token_file=None):
        """hai_load; its JSON."""
        command = [programs() / "hai_load", "--server", f"127.0.0.1:{self.server.grpc}"]
        command += ["--token-file", token_file or self.root / "admin.token", *words]
        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        if not wait:
            return process
        out = process.communicate()[0]
        if process.returncode != 0:
            raise RuntimeError(f"hai_load {words}: {out}")
        return json.loads(out)

    def new_prefix(self):
        self.prefix += 1
        return f"run{self.prefix}"

    def shapes(self, rows):
        path = self.root / f"shapes-{self.prefix}"
        path.write_text("".join(f"{nodes} {seconds}\n" for nodes, seconds in rows))
        return path

    def jobs(self):
        """{state: count}, from the metrics."""
        found = {}
        for line in self.server.get("/metrics", seconds=60)[2].splitlines():
            if line.startswith("hai_jobs{"):
                name, count = line.rsplit(" ", 1)
                found[name.split('"')[1]] = int(float(count))
        return found

    def unfinished(self):
        jobs = self.jobs()
        return sum(jobs.get(state, 0) for state in ("queued", "running", "suspended"))

    def stop_all(self):
        """Every unfinished job."""
        while True:
            status, _, text = self.server.get("/api/v1/jobs?limit=1000", seconds=60)
            ids = [str(job["id"]) for job in json.loads(text)["jobs"]] if status == 200 else []
            if not ids:
                break
            self.ok("stop", *ids, seconds=120)
        eventually("no job is left", lambda: self.unfinished() == 0, 120)

    def fill(self, priority="low"):
        """A job of one node that runs for long on each node."""
        count = self.fleet or self.nodes
        words = ["submit", "--prefix", self.new_prefix(), "--jobs", count, "--clients", 4]
        words += ["--priority", priority, "--batch", 500]
        before = self.jobs().get("running", 0)
        began = time.time()
        self.load(*words)
        eventually("the cluster is full", lambda: self.jobs().get("running", 0) >= before + count, 120)
        return time.time() - began


class Meter:
    """Wall and CPU seconds since creation, of whom."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.began = self.now()

    def now(self):
        cluster = self.cluster
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return {
            "wall_s": time.time(),
            "server": cpu_of(cluster.server.process.pid),
            "postgres": descendants_cpu([cluster.database.process.pid]),
            "nodes": cluster.nodes_cpu(),
            "clients": children.ru_utime + children.ru_stime,
            "machine": machine_cpu(),
        }

    def read(self, per=1):
        now = self.now()
        spent = {key: now[key] - self.began[key] for key in now}
        ours = spent["server"] + spent["postgres"] + spent["nodes"] + spent["clients"]
        result = {"wall_s": round(spent["wall_s"], 3)}
        for key in ("server", "postgres", "nodes", "clients"):
            result[f"{key}_cpu_ms_per_job"] = round(spent[key] * 1e3 / per, 3)
        controller = spent["server"] + spent["postgres"]
        result["controller_cpu_ms_per_job"] = round(controller * 1e3 / per, 3)
        result["controller_cpu_s"] = round(controller, 2)
        result["foreign_cpu_s"] = round(max(0, spent["machine"] - ours), 2)
        memory = memory_of(self.cluster.server.process.pid)
        result["server_rss_mb"], result["server_hwm_mb"] = map(round, memory.values())
        return result
