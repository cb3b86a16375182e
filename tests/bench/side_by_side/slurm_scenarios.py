#!/usr/bin/python3
"""The scenarios S0 to S6 on Slurm; one JSON object a line. Run through slurm.sh."""
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time

from slurm_cluster import (BASE, CONF, ENV, HERE, JOBS, NODES, REPS, RESULTS, S2_REPS, S2_SECONDS, Meter, cancel_all, client,
                           ctld, emit, idle, left, log, median, mixed, proc, quiet, reset_diag, sdiag, set_profile, sh,
                           slurmds, spec_file, start_slurmds, states, wait_for)


def s0_start():
    set_profile(FIRST_PROFILE)
    t0 = time.time()
    ctld.start(clean=True)
    wait_for(lambda: "UP" in sh("scontrol", "ping"), 30, "slurmctld")
    t1 = time.time()
    start_slurmds()
    t2 = time.time()
    last = [0]

    def ready():
        s = states()
        n = s.get("idle", 0)
        if n != last[0]:
            last[0] = n
        return n == NODES
    wait_for(ready, 120, "all nodes idle", 0.5)
    t3 = time.time()
    pss = 0
    kids = [p for p in os.listdir("/proc") if p.isdigit() and open(f"/proc/{p}/comm").read() == "slurmd\n"]
    for p in random.Random(1).sample(kids, min(20, len(kids))):
        pss += int(re.search(r"^Pss:\s+(\d+)", open(f"/proc/{p}/smaps_rollup").read(), re.M).group(1))
    c = proc(ctld.pid)
    emit(scenario="S0", what="start", nodes=NODES, gpus=NODES * 8, ctld_up_s=round(t1 - t0, 2),
         slurmd_spawn_s=round(t2 - t1, 1), all_idle_s=round(t3 - t1, 1),
         slurmd_pss_mb=round(pss / 1024 / min(20, len(slurmds)), 2), ctld_rss_mb=round(c["rss_mb"], 1))


def s1_submit():
    n = 2000
    set_profile("tuned")
    runs = {}
    sh("scontrol", "update", "PartitionName=low", "State=DOWN")   # accepted, eligible, not startable
    opts = ["-Q", "-N1", "--exclusive", "--gres=gpu:8", "-t1", "-o", "/dev/null", "-D", "/tmp"]

    def libslurm(k, hold="0"):
        f = spec_file(f"s1_{k}", [(1, 1, "low")] * (n // k))
        ps = [subprocess.Popen(["/usr/bin/perl", f"{HERE}/slurm_client.pl", "submit", f, hold], env=ENV,
                               stdout=subprocess.PIPE) for _ in range(k)]
        return [json.loads(p.communicate(timeout=300)[0]) for p in ps]

    ways = (("sbatch_x4_processes", lambda: sh("/bin/sh", "-c", f"seq {n} | xargs -P4 -I{{}} sbatch {' '.join(opts)} --wrap 'sleep 1'", timeout=300)),
            ("one_job_array", lambda: sh("sbatch", f"--array=1-{n}", *opts, "--wrap", "sleep 1")),
            ("libslurm_1_client", lambda: libslurm(1)),
            ("libslurm_4_clients", lambda: libslurm(4)),
            ("libslurm_16_clients", lambda: libslurm(16)),
            ("libslurm_1_client_held_jobs", lambda: libslurm(1, "1")))
    for rep in range(REPS):
        for name, fn in ways:
            quiet()
            m = Meter()
            r = fn()
            d = m.read(n)
            if name.startswith("libslurm_1_client"):
                d.update(submit_p50_ms=r[0]["p50_ms"], submit_p99_ms=r[0]["p99_ms"], submit_max_ms=r[0]["max_ms"])
            d["jobs_per_s"] = round(n / d["wall_s"], 1)
            runs.setdefault(name, []).append(d)
            sh("scancel", "-u", "root", "-Q", timeout=300)
    for k, v in runs.items():
        emit(scenario="S1", what=k, jobs=n, reps=[d["jobs_per_s"] for d in v],
             **{f: round(median(d[f] for d in v), 3) for f in v[0]})
    sh("scontrol", "update", "PartitionName=low", "State=UP")


def s2_one(jobs, seed, profile):
    sh("scontrol", "update", "PartitionName=low", "State=DOWN")
    rows = mixed(jobs, seed, seconds=S2_SECONDS)
    ts = time.time()
    r = client("submit", spec_file("s2", rows), 0, timeout=400)
    log(f"S2 queued {jobs} jobs in {time.time() - ts:.1f}s ({r['jobs_per_s']}/s)")
    reset_diag()
    m = Meter()
    t0 = time.time()
    sh("scontrol", "update", "PartitionName=low", "State=UP")
    trace, d, t_all_started = [], None, None
    limit = min(420, max(60, left() - 60))
    while True:
        time.sleep(1)
        d = sdiag()
        t = time.time() - t0
        trace.append((round(t, 1), d["started"], d["completed"]))
        if t_all_started is None and d["started"] >= jobs:
            t_all_started = t
        if d["completed"] + d["canceled"] + d["failed"] >= jobs or t > limit:
            break
    wall = time.time() - t0
    cpu, c1 = m.read(max(1, d["completed"])), proc(ctld.pid)
    cpu.pop("wall_s")
    node_s = sum(n * s for n, s, _ in rows)
    done = d["completed"]
    # the steady part: from 10% to 90% of the jobs started
    a = next((x for x in trace if x[1] >= 0.1 * jobs), trace[0])
    b = next((x for x in trace if x[1] >= 0.9 * jobs), trace[-1])
    steady = (b[1] - a[1]) / max(1e-9, b[0] - a[0])
    top = sorted(((k, v) for k, v in d["rpc"].items()), key=lambda x: -x[1][2])[:4]
    return dict(scenario="S2", what=f"htc_{profile}", jobs=jobs, completed=done, wall_s=round(wall, 1),
                jobs_per_s=round(done / wall, 1), steady_started_per_s=round(steady, 1),
                all_started_s=round(t_all_started, 1) if t_all_started else None,
                node_util=round(node_s * done / jobs / (NODES * wall), 3), ideal_wall_s=round(node_s / NODES, 1),
                **cpu, ctld_rss_mb=round(c1["rss_mb"], 1), ctld_hwm_mb=round(c1["hwm_mb"], 1),
                **{k: d[k] for k in ("sched_cycles", "sched_mean_us", "sched_max_us", "sched_mean_depth", "bf_cycles",
                                     "bf_mean_us", "bf_max_us", "bf_last_us", "bf_jobs", "bf_depth_mean")},
                top_rpcs={k: f"n={v[0]} avg={v[1]}us total={v[2] / 1e6:.1f}s" for k, v in top})


def s2_throughput():
    runs = []
    set_profile("tuned")
    for rep in range(S2_REPS):
        quiet()
        if rep and left() < 1.3 * runs[-1]["wall_s"] + 200:
            log(f"S2: time budget allows {rep} repetitions")
            break
        r = s2_one(JOBS, 100 + rep, "tuned")
        emit(**r)
        runs.append(r)
        wait_for(idle, 120, "idle")
        time.sleep(12)              # let MinJobAge purge the finished jobs
    if len(runs) > 1:
        emit(scenario="S2", what="median", reps=len(runs),
           **{k: median(r[k] for r in runs) for k in ("wall_s", "jobs_per_s", "steady_started_per_s", "node_util",
              "ctld_cpu_s", "ctld_cpu_ms_per_job", "other_cpu_ms_per_job", "foreign_cpu_s", "ctld_hwm_mb", "sched_mean_us", "sched_max_us", "bf_mean_us", "bf_max_us")})


def s2b_one(jobs, seed):
    """Same queue, but allocation-only jobs: no batch launch, so the emulated
    nodes cost little and the controller is what limits the rate."""
    sh("scontrol", "update", "PartitionName=low", "State=DOWN")
    r = client("allocq", spec_file("s2b", mixed(jobs, seed)), timeout=400)
    log(f"S2b queued {jobs} allocations at {r['jobs_per_s']}/s")
    reset_diag()
    m = Meter()
    p = subprocess.Popen(["/usr/bin/perl", f"{HERE}/slurm_client.pl", "churn", "0", str(jobs), str(int(min(240, max(30, left() - 60))))],
                         env=ENV, stdout=subprocess.PIPE)
    sh("scontrol", "update", "PartitionName=low", "State=UP")
    trace = []
    while p.poll() is None:
        time.sleep(1)
        trace.append((time.time() - m.t, sdiag()["started"]))
    c = json.loads(p.communicate()[0])
    d, cpu, st = sdiag(), m.read(jobs), proc(ctld.pid)
    a = next((x for x in trace if x[1] >= 0.1 * jobs), trace[0])
    b = next((x for x in trace if x[1] >= 0.9 * jobs), trace[-1])
    return dict(scenario="S2b", what="allocation_only_churn", jobs=jobs, completed=c["done"],
                jobs_per_s=round(c["done"] / c["seconds"], 1), steady_started_per_s=round((b[1] - a[1]) / max(.1, b[0] - a[0]), 1),
                complete_p50_ms=c["complete_p50_ms"], complete_p99_ms=c["complete_p99_ms"], **cpu, ctld_hwm_mb=round(st["hwm_mb"], 1),
                **{k: d[k] for k in ("sched_cycles", "sched_mean_us", "sched_max_us", "sched_mean_depth", "bf_cycles",
                                     "bf_mean_us", "bf_max_us", "bf_jobs")})


def s2b_alloc():
    set_profile("tuned")
    runs = []
    for rep in range(S2_REPS):
        if rep and left() < 1.5 * runs[-1]["wall_s"] + 200:
            log(f"S2b: time budget allows {rep} repetitions")
            break
        quiet()
        r = s2b_one(JOBS, 200 + rep)
        emit(**r)
        runs.append(r)
        cancel_all()
        time.sleep(12)
    if len(runs) > 1:
        emit(scenario="S2b", what="median", reps=len(runs),
           **{k: median(r[k] for r in runs) for k in ("wall_s", "jobs_per_s", "steady_started_per_s", "ctld_cpu_s", "ctld_cpu_ms_per_job",
              "other_cpu_ms_per_job", "foreign_cpu_s", "ctld_hwm_mb", "sched_mean_us", "sched_max_us", "bf_mean_us", "bf_max_us")})


def pctl(xs, p):
    xs = sorted(xs)
    return round(xs[min(len(xs) - 1, int(p / 100 * (len(xs) - 1) + 0.5))], 2)


def latency(tries, nodes, mode):
    r = client("latency", tries, nodes, mode, timeout=400)
    ack, run = r["ack"], r["run"]
    return dict(nodes=nodes, tries=len(run), ack_p50_ms=pctl(ack, 50), ack_p99_ms=pctl(ack, 99), p50_ms=pctl(run, 50),
                p99_ms=pctl(run, 99), max_ms=max(run))


def s3_latency():
    for profile, plan in (("default", ((1, 10), (64, 5), (1000, 3))), ("tuned", ((1, 50), (64, 20), (1000, 10)))):
        set_profile(profile)
        for nodes, tries in plan:
            if nodes <= NODES:
                quiet()
                emit(scenario="S3", what=f"sbatch_to_running_{profile}", **latency(tries, nodes, "batch"))
    for nodes, tries in ((1, 50), (64, 20), (1000, 5)):
        if nodes <= NODES:
            quiet()
            reset_diag()
            r = latency(tries, nodes, "alloc")
            rpc = sdiag()["rpc"].get("REQUEST_RESOURCE_ALLOCATION", (0, 0, 0))
            emit(scenario="S3", what="allocation_rpc", ctld_rpc_mean_ms=round(rpc[1] / 1e3, 3), **r)


def running():
    return len(sh("squeue", "-h", "-t", "R", "-o", "%i").split())


def fill(n=None):
    n = n or NODES
    r = client("submit", spec_file("fill", [(1, 900, "low")] * n), 0)
    return wait_for(lambda: running() >= n, 180, f"{n} running jobs", 0.5), r


def s4_preempt():
    big = 512 * NODES // 1250
    out = []
    for rep in range(REPS):
        t, r = fill()
        log(f"S4 filled {NODES} nodes in {t:.1f}s after submission")
        time.sleep(3)
        m = Meter()
        reset_diag()
        t0 = time.time()
        jid = int(sh("sbatch", "--parsable", f"-N{big}", "--exclusive", "--gres=gpu:8", "-p", "high", "-t60", "-o",
                     "/dev/null", "-D", "/tmp", "--wrap", "sleep 900"))
        t_ack = time.time() - t0
        wait_for(lambda: sh("squeue", "-h", "-j", str(jid), "-o", "%T").strip() == "RUNNING", 150, "preemptor", 0.02)
        t_run = time.time() - t0
        s = {}
        for l in sh("squeue", "-h", "-p", "low", "-o", "%T").split():
            s[l] = s.get(l, 0) + 1
        d = sdiag()
        out.append(dict(ack_s=t_ack, run_s=t_run, still_running=s.get("RUNNING", 0),
                        requeued=NODES - s.get("RUNNING", 0), states=s, **m.read(), sched_max_us=d["sched_max_us"], bf_max_us=d["bf_max_us"]))
        log(f"S4 {out[-1]}")
        cancel_all()
        if left() < 200:
            break
    emit(scenario="S4", what="preempt", fill_nodes=NODES, preemptor_nodes=big, reps=[round(o["run_s"], 2) for o in out],
         run_s=round(median(o["run_s"] for o in out), 2), requeued=[o["requeued"] for o in out],
         ctld_cpu_s=round(median(o["ctld_cpu_s"] for o in out), 2),
         node_and_client_cpu_s=round(median(o["node_and_client_cpu_s"] for o in out), 2),
         sched_max_us=max(o["sched_max_us"] for o in out), bf_max_us=max(o["bf_max_us"] for o in out))


def job_ids():
    d = {}
    for l in sh("squeue", "-h", "-o", "%i %T", timeout=120).splitlines():
        i, s = l.split()
        d[int(i)] = s
    return d


def port_open():
    s = socket.socket()
    try:
        return s.connect_ex(("127.0.0.1", 16817)) == 0
    finally:
        s.close()


def s5_restart():
    fill()
    r = client("submit", spec_file("s5", [(n, 600, "low") for n, _, _ in mixed(JOBS, 7)]), 0, timeout=400)
    log(f"S5 queued {JOBS} more at {r['jobs_per_s']}/s while {NODES} run")
    emit(scenario="S5", what="submit_while_running", jobs=JOBS, jobs_per_s=r["jobs_per_s"], p50_ms=r["p50_ms"], p99_ms=r["p99_ms"])
    time.sleep(12)          # at least two of the controller's 5 s state saves
    out = []
    for rep in range(REPS):
        before = job_ids()
        ctld.stop(signal.SIGKILL)
        t0 = time.time()
        ctld.start()
        wait_for(port_open, 120, "port", 0.002)       # squeue itself would sleep 1 s after a refused connection
        wait_for(lambda: len(sh("squeue", "-h", "-o", "%i", timeout=30).split()) > 0, 120, "squeue", 0.01)
        t_up = time.time() - t0
        c = proc(ctld.pid)
        after = job_ids()
        lost = [j for j in before if j not in after]
        flip = [j for j in before if j in after and before[j] == "RUNNING" and after[j] != "RUNNING"]
        t_nodes = wait_for(lambda: states().get("allocated", 0) + states().get("mixed", 0) >= NODES, 90, "nodes back", 0.2) + t_up
        out.append(dict(up=t_up, lost=len(lost), flipped=len(flip), total=len(before), cpu=c["cpu_s"], nodes=t_nodes))
        log(f"S5 {out[-1]}")
        time.sleep(6)
        if left() < 150:
            break
    sz = os.path.getsize(f"{BASE}/state/job_state")
    emit(scenario="S5", what="kill9_restart", jobs=out[0]["total"], reps=[round(o["up"], 2) for o in out],
         squeue_answers_s=round(median(o["up"] for o in out), 2), lost=[o["lost"] for o in out],
         running_no_longer_running=[o["flipped"] for o in out], job_state_mb=round(sz / 1e6, 1),
         restart_cpu_s=round(median(o["cpu"] for o in out), 2))
    # acknowledged submissions against an immediate crash
    lost, first_ids = [], []
    for rep in range(REPS):
        time.sleep(6 + rep)
        r = client("submit", spec_file("s5b", [(1, 600, "low")] * 200), 0)
        ctld.stop(signal.SIGKILL)
        ctld.start()
        wait_for(port_open, 120, "port", 0.002)
        wait_for(lambda: len(sh("squeue", "-h", "-o", "%i", timeout=30).split()) > 0, 120, "squeue", 0.05)
        after = job_ids()
        lost.append(sum(1 for j in range(r["first"], r["last"] + 1) if j not in after))
        first_ids.append(r["first"])
    emit(scenario="S5", what="ack_then_kill9", submitted=200, lost=lost, first_job_ids=first_ids)


def timeit(fn, n):
    xs = []
    for _ in range(n):
        t = time.time()
        fn()
        xs.append((time.time() - t) * 1e3)
    xs.sort()
    return dict(tries=n, p50_ms=round(xs[len(xs) // 2], 2), p99_ms=round(xs[min(n - 1, int(0.99 * n))], 2))


def s6_query():
    ids = sorted(job_ids())
    emit(scenario="S6", what="squeue_all", jobs=len(ids), **timeit(lambda: sh("squeue", "-h"), 20))
    emit(scenario="S6", what="squeue_one", jobs=len(ids), **timeit(lambda: sh("squeue", "-h", "-j", str(random.choice(ids))), 50))
    emit(scenario="S6", what="scontrol_show_job", jobs=len(ids), **timeit(lambda: sh("scontrol", "show", "job", str(random.choice(ids))), 50))
    emit(scenario="S6", what="sinfo", jobs=len(ids), **timeit(lambda: sh("sinfo", "-h"), 20))
    emit(scenario="S6", what="libslurm_load_job", jobs=len(ids), **client("loadjob", 1000, ids[0], ids[-1]))
    # REST: slurmrestd refuses to run as root or as SlurmUser
    sock = f"{BASE}/out/restd.sock"
    os.chmod(f"{BASE}/out", 0o777)
    if os.path.exists(sock):
        os.unlink(sock)
    p = subprocess.Popen(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "slurmrestd", "-a", "rest_auth/local",
                          "-s", "openapi/v0.0.38", f"unix:{sock}"], env=ENV, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=open(f"{BASE}/log/restd.err", "w"))
    try:
        wait_for(lambda: os.path.exists(sock), 10, "slurmrestd")

        def get(path):
            o = sh("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "curl", "-s", "-o", "/dev/null", "-w",
                   "%{http_code} %{time_total} %{size_download}", "--unix-socket", sock, f"http://localhost/slurm/v0.0.38{path}", timeout=120).split()
            return o[0], float(o[1]) * 1e3, int(o[2])

        def many(name, fpath, n):
            rs = [get(fpath()) for _ in range(n)]
            xs = sorted(r[1] for r in rs)
            emit(scenario="S6", what=name, jobs=len(ids), tries=n, http=sorted({r[0] for r in rs}),
                 p50_ms=round(xs[n // 2], 2), p99_ms=round(xs[min(n - 1, int(.99 * n))], 2), bytes=rs[0][2])
        many("rest_ping", lambda: "/ping", 20)
        many("rest_job_one", lambda: f"/job/{random.choice(ids)}", 20)
        many("rest_jobs_all", lambda: "/jobs", 5)
    except RuntimeError as e:
        emit(scenario="S6", what="rest", error=str(e)[:300])
    finally:
        p.terminate()
        p.wait(10)


FIRST_PROFILE = "default" if len(sys.argv) < 2 or not sys.argv[1] or "S3" in sys.argv[1] else "tuned"


ALL = [("S0", s0_start), ("S3", s3_latency), ("S1", s1_submit), ("S2", s2_throughput), ("S2b", s2b_alloc), ("S4", s4_preempt),
       ("S5", s5_restart), ("S6", s6_query)]


def main():
    want = (sys.argv[1].split(",") if len(sys.argv) > 1 and sys.argv[1] else [n for n, _ in ALL])
    for name, fn in ALL:
        if name != "S0" and name not in want:
            continue
        if left() < 60:
            emit(scenario=name, error="skipped: time budget used up")
            continue
        log(f"--- {name}")
        t0 = time.time()
        try:
            fn()
        except Exception as e:           # a scenario that fails is a result too
            emit(scenario=name, error=f"{type(e).__name__}: {e}"[:400])
            try:
                if name == "S0":
                    break
                if name != "S5":
                    cancel_all()
            except Exception:
                pass
        log(f"{name} took {time.time() - t0:.1f}s")
    json.dump(RESULTS, open(f"{BASE}/out/results.json", "w"), indent=1)


if __name__ == "__main__":
    try:
        main()
    finally:
        ctld.stop()
        for p in slurmds:
            p.terminate()
