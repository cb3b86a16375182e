#!/usr/bin/python3
"""A whole Slurm on this machine: slurmctld and one real slurmd per node. Run through slurm.sh, which
enters private network, PID and UTS namespaces."""
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time

import workload

BASE = os.environ.get("SLURMBENCH_BASE", "/tmp/slurmbench")
HERE = os.path.dirname(os.path.abspath(__file__))
NODES = int(os.environ.get("SLURMBENCH_NODES", "1250"))
JOBS = int(os.environ.get("SLURMBENCH_JOBS", "10000"))
REPS = int(os.environ.get("SLURMBENCH_REPS", "3"))
S2_SECONDS = tuple(map(int, os.environ.get("SLURMBENCH_S2_SECONDS", "1,5").split(",")))
S2_REPS = int(os.environ.get("SLURMBENCH_S2_REPS", "1"))     # 10,000 jobs each: run run.sh again for more
BUDGET = float(os.environ.get("SLURMBENCH_BUDGET_S", "840"))
T_START = time.time()
CONF = f"{BASE}/etc/slurm.conf"
ENV = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SLURM_CONF": CONF, "LANG": "C", "HOME": "/root"}
HZ = os.sysconf("SC_CLK_TCK")
RESULTS = []
# ------------------------------------------------------------------ config
# "default": Slurm's built-in scheduler timing, only the table sizes raised.
# "tuned":   the options of Slurm's high-throughput guide, values chosen by
#            measuring here which ones started most jobs per second.
SCHED = {
    "default": "bf_window=60,bf_resolution=60",
    "tuned": ("batch_sched_delay=0,sched_min_interval=200000,default_queue_depth=1000,"
              "max_rpc_cnt=64,bf_continue,bf_interval=30,bf_max_job_test=500,bf_window=60,"
              "bf_resolution=60,bf_max_job_user=0"),
}
if os.environ.get("SLURMBENCH_SCHED"):
    SCHED["tuned"] = os.environ["SLURMBENCH_SCHED"]


def node_range(a, b):
    return f"n[{a:04d}-{b:04d}]"


def write_conf(profile):
    for d in ("etc", "bin", "state", "spool", "log", "dev", "out"):
        os.makedirs(f"{BASE}/{d}", exist_ok=True)
    # the daemons must be called by these exact names: Slurm drops the node
    # GRES when the program is called slurmctld-wlm / slurmd-wlm
    for n in ("slurmctld", "slurmd", "slurmstepd"):
        l = f"{BASE}/bin/{n}"
        if not os.path.islink(l):
            os.symlink(f"/usr/sbin/{n}-wlm", l)
    for i in range(8):
        p = f"{BASE}/dev/nvidia{i}"
        if not os.path.exists(p):
            os.mknod(p, 0o20666, os.makedev(1, 3))
    # only the plugins this configuration uses: every job step daemon scans and
    # loads whole plugin families otherwise, which costs the emulated nodes CPU
    pd = "/usr/lib/x86_64-linux-gnu/slurm-wlm"
    if not os.path.isdir(f"{BASE}/plugins"):
        os.makedirs(f"{BASE}/plugins")
        drop = re.compile(r"mpi_(?!none)|select_(?!cons_tres)|gres_(?!gpu)|openapi_db|openapi_v0_0_3[67]|"
                          r"switch_(?!none)|acct_gather_energy_(?!none)|spank_|job_submit_|burst_buffer|power_cray|"
                          r"core_spec_cray|libslurm_pmi")
        for n in os.listdir(pd):
            if not drop.match(n):
                os.symlink(f"{pd}/{n}", f"{BASE}/plugins/{n}")
    conf = f"""ClusterName=bench
PluginDir={BASE}/plugins
SlurmctldHost=slurmbench(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort=16817
SlurmdPort=16818
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={BASE}/state
SlurmdSpoolDir={BASE}/spool/%n
SlurmctldPidFile={BASE}/slurmctld.pid
SlurmdPidFile={BASE}/spool/slurmd.%n.pid
SlurmctldLogFile={BASE}/log/slurmctld.log
SlurmdLogFile={BASE}/log/slurmd.%n.log
SlurmctldDebug=error
SlurmdDebug=error
MailProg=/bin/true
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
PriorityType=priority/basic
SchedulerType=sched/backfill
SchedulerParameters={SCHED[profile]}
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
GresTypes=gpu
SlurmdParameters=config_overrides
MaxJobCount=60000
MaxArraySize=20001
MinJobAge=10
MessageTimeout=60
SlurmctldTimeout=120
SlurmdTimeout=300
KillWait=2
ReturnToService=2
NodeName={node_range(1, NODES)} NodeHostname=slurmbench NodeAddr=127.0.0.1 Port=[{17001}-{17000 + NODES}] Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=1 CPUs=64 RealMemory=16000 Gres=gpu:8 State=UNKNOWN
PartitionName=low Nodes=ALL Default=YES MaxTime=INFINITE PriorityTier=1 PreemptMode=REQUEUE GraceTime=0 State=UP
PartitionName=high Nodes=ALL MaxTime=INFINITE PriorityTier=10 PreemptMode=OFF State=UP
"""
    with open(CONF + ".new", "w") as f:
        f.write(conf)
    os.rename(CONF + ".new", CONF)
    if os.path.exists(f"{BASE}/etc/topology.conf"):
        return                      # the slurmds may be reading the others
    with open(f"{BASE}/etc/gres.conf", "w") as f:
        f.write(f"NodeName={node_range(1, NODES)} Name=gpu File={BASE}/dev/nvidia[0-7]\n")
    # two zones of NODES/2, 16 leaf switches each, one core switch above
    t, leaf = [], 0
    for z in range(2):
        lo, hi = z * NODES // 2, (z + 1) * NODES // 2
        for k in range(16):
            a = lo + (hi - lo) * k // 16 + 1
            b = lo + (hi - lo) * (k + 1) // 16
            if b < a:
                continue
            leaf += 1
            t.append(f"SwitchName=leaf{leaf:02d} Nodes={node_range(a, b)}")
        t.append(f"SwitchName=zone{z} Switches=leaf[{z * 16 + 1:02d}-{z * 16 + 16:02d}]")
    t.append("SwitchName=core Switches=zone[0-1]")
    with open(f"{BASE}/etc/topology.conf", "w") as f:
        f.write("\n".join(t) + "\n")


# ------------------------------------------------------------------ helpers
def sh(*args, check=True, timeout=120, inp=None):
    r = subprocess.run(args, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       text=True, timeout=timeout, input=inp)
    if check and r.returncode:
        raise RuntimeError(f"{args}: rc {r.returncode}: {r.stderr.strip()[:400]}")
    return r.stdout


def client(*args, timeout=300):
    return json.loads(sh("/usr/bin/perl", f"{HERE}/slurm_client.pl", *map(str, args), timeout=timeout))


def log(msg):
    print(f"[{time.time() - T_START:6.1f}s load {os.getloadavg()[0]:.1f}] {msg}", file=sys.stderr, flush=True)


def emit(**kw):
    kw["load1"] = round(os.getloadavg()[0], 2)
    RESULTS.append(kw)
    print(json.dumps(kw), flush=True)


def left():
    return BUDGET - (time.time() - T_START)


def proc(pid):
    f = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    st = open(f"/proc/{pid}/status").read()
    g = lambda k: int(re.search(k + r":\s+(\d+)", st).group(1)) / 1024
    return {"cpu_s": (int(f[11]) + int(f[12])) / HZ, "rss_mb": g("VmRSS"), "hwm_mb": g("VmHWM"),
            "threads": int(re.search(r"Threads:\s+(\d+)", st).group(1))}


CG = os.environ.get("SLURMBENCH_CG")


def machine_cpu():
    """busy CPU seconds of all cores"""
    v = list(map(int, open("/proc/stat").readline().split()[1:9]))
    return (sum(v) - v[3] - v[4]) / HZ


def bench_cpu():
    """CPU seconds of everything this benchmark started, ended processes too"""
    if CG:
        return int(open(f"{CG}/cpuacct.usage").read()) / 1e9
    return machine_cpu()


class Meter:
    """wall and CPU seconds since creation: controller, everything else of the
    benchmark (emulated nodes and clients), and other users of the machine"""

    def __init__(self):
        self.t, self.c, self.b, self.m = time.time(), proc(ctld.pid)["cpu_s"], bench_cpu(), machine_cpu()

    def read(self, per=0):
        c, b = proc(ctld.pid)["cpu_s"] - self.c, bench_cpu() - self.b
        d = dict(wall_s=round(time.time() - self.t, 3), ctld_cpu_s=round(c, 3), node_and_client_cpu_s=round(b - c, 2),
                 foreign_cpu_s=round(max(0.0, machine_cpu() - self.m - b), 2))
        if per:
            d["ctld_cpu_ms_per_job"] = round(c * 1e3 / per, 3)
            d["other_cpu_ms_per_job"] = round((b - c) * 1e3 / per, 3)
        return d


class Ctld:
    p = None

    def start(self, clean=False):
        a = [f"{BASE}/bin/slurmctld", "-D", "-f", CONF] + (["-c"] if clean else [])
        self.p = subprocess.Popen(a, env=ENV, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL,
                                  stderr=open(f"{BASE}/log/slurmctld.err", "a"))
        return self.p

    def stop(self, sig=signal.SIGTERM):
        if self.p and self.p.poll() is None:
            self.p.send_signal(sig)
            self.p.wait(90)

    @property
    def pid(self):
        return self.p.pid


ctld = Ctld()
slurmds = []


def wait_for(fn, timeout, what, step=0.2):
    t0 = time.time()
    while True:
        try:
            if fn():
                return time.time() - t0
        except (RuntimeError, subprocess.TimeoutExpired):
            pass
        if time.time() - t0 > timeout:
            raise RuntimeError(f"timeout after {timeout}s waiting for {what}")
        time.sleep(step)


def states():
    d = {}
    for l in sh("sinfo", "-h", "-p", "low", "-o", "%T %D").splitlines():
        s, n = l.split()
        d[s] = d.get(s, 0) + int(n)
    return d


def idle():
    return states().get("idle", 0) == NODES


def start_slurmds():
    for i in range(1, NODES + 1):
        n = f"n{i:04d}"
        os.makedirs(f"{BASE}/spool/{n}", exist_ok=True)
        # own PID namespace: proctrack/pgid walks /proc for every job, which is
        # O(all emulated nodes) in a shared one.  The shell reaps orphans.
        slurmds.append(subprocess.Popen(
            ["/usr/bin/unshare", "--pid", "--mount-proc", "--fork", "--kill-child", "/bin/sh", "-c",
             f"{BASE}/bin/slurmd -D -N {n} -f {CONF} -d {BASE}/bin/slurmstepd; exit 0"],
            env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=BASE))


def sdiag():
    t = sh("sdiag")
    g = lambda pat, s=t: (lambda m: int(m.group(1)) if m else 0)(re.search(pat, s))
    main, bf = t.split("Backfilling stats", 1)
    main = main.split("Main schedule statistics", 1)[1]
    rpc = {}
    for m in re.finditer(r"^\s+(\w+)\s+\(\s*\d+\) count:(\d+)\s+ave_time:(\d+)\s+total_time:(\d+)", t, re.M):
        if m.group(1).isupper() or "_" in m.group(1):
            rpc[m.group(1)] = (int(m.group(2)), int(m.group(3)), int(m.group(4)))
    return {"submitted": g(r"Jobs submitted:\s+(\d+)"), "started": g(r"Jobs started:\s+(\d+)"),
            "completed": g(r"Jobs completed:\s+(\d+)"), "canceled": g(r"Jobs canceled:\s+(\d+)"),
            "failed": g(r"Jobs failed:\s+(\d+)"),
            "sched_cycles": g(r"Total cycles:\s+(\d+)", main), "sched_mean_us": g(r"Mean cycle:\s+(\d+)", main),
            "sched_max_us": g(r"Max cycle:\s+(\d+)", main), "sched_mean_depth": g(r"Mean depth cycle:\s+(\d+)", main),
            "bf_cycles": g(r"Total cycles:\s+(\d+)", bf), "bf_mean_us": g(r"Mean cycle:\s+(\d+)", bf),
            "bf_max_us": g(r"Max cycle:\s+(\d+)", bf), "bf_last_us": g(r"Last cycle:\s+(\d+)", bf),
            "bf_jobs": g(r"Total backfilled jobs \(since last slurm start\):\s+(\d+)", bf),
            "bf_depth_mean": g(r"Depth Mean:\s+(\d+)", bf), "rpc": rpc}


def reset_diag():
    sh("sdiag", "-r")


def cancel_all():
    sh("scancel", "--quiet", "-u", "root", check=False, timeout=120)
    # purge waits for MinJobAge; only the nodes have to be free for the next scenario
    wait_for(lambda: idle() and not sh("squeue", "-h", "-o", "%i", "-t", "PD,R,CG,CF").strip(), 120, "empty cluster", 0.5)


def spec_file(name, rows):
    p = f"{BASE}/out/{name}"
    open(p, "w").write("".join(f"{n} {s} {part}\n" for n, s, part in rows))
    return p


def mixed(count, seed, part="low", seconds=(1, 5)):
    return [(nodes, sleep, part) for nodes, sleep in workload.mixed(count, seed, seconds)]


def median(xs):
    return statistics.median(xs)


PROFILE = [None]


def set_profile(p):
    """Restart slurmctld with other SchedulerParameters (slurmds keep running)."""
    if PROFILE[0] == p:
        return
    write_conf(p)
    if PROFILE[0] is not None:
        ctld.stop()
        ctld.start()
        wait_for(lambda: "UP" in sh("scontrol", "ping"), 30, "slurmctld")
        wait_for(idle, 90, "idle after restart")
        time.sleep(3)
    PROFILE[0] = p


def quiet():
    """Wait until the emulated nodes have digested what came before."""
    wait_for(idle, 120, "idle")
    t0, m0 = time.time(), machine_cpu()
    while time.time() - t0 < 3:
        time.sleep(1)
        m1 = machine_cpu()
        if m1 - m0 < 0.25:
            return
        m0 = m1
