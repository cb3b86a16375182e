#!/usr/bin/env python3
"""One Markdown table of what side_by_side.sh measured: medians, the range in brackets, the ratio.

usage: table.py FOLDER
"""

import json
import pathlib
import statistics
import sys


def read(folder, pattern):
    """{(scenario, what, nodes): [rows]}"""
    found = {}
    for path in sorted(folder.glob(pattern)):
        for line in path.read_text().splitlines():
            if not line.startswith("{"):
                continue
            row = json.loads(line)
            if "error" in row or row.get("what") == "median":
                continue
            nodes = row.get("nodes", 0) if row["scenario"] == "S3" else 0
            found.setdefault((row["scenario"], row.get("what", ""), nodes), []).append(row)
    return found


def values(rows, key, scale):
    numbers = []
    for row in rows:
        # Repetitions within a run count each.
        each = row["reps"] if key in ("jobs_per_s", "run_s", "squeue_answers_s") and "reps" in row else row.get(key)
        numbers += each if isinstance(each, list) else [each] if each is not None else []
    return [number * scale for number in numbers]


def text(numbers):
    if not numbers:
        return "—", None
    middle = statistics.median(numbers)

    def one(number):
        return f"{number:,.0f}" if abs(number) >= 100 else f"{number:,.3g}"

    spread = "" if len(numbers) == 1 or min(numbers) == max(numbers) else f" ({one(min(numbers))}–{one(max(numbers))})"
    return one(middle) + spread, middle


# name, unit, (file, scenario, what, key) of Slurm, the same of hai, whether more is better
ROWS = []


def row(name, unit, slurm, hai, more_is_better=False, scale=(1, 1)):
    ROWS.append((name, unit, slurm, hai, more_is_better, scale))


def submits(name, slurm, hai):
    row(f"S1 submit, {name}", "jobs/s", ("slurm", "S1", slurm, "jobs_per_s"), ("hai", "S1", hai, "jobs_per_s"), True)
    row("… controller", "ms CPU/job", ("slurm", "S1", slurm, "ctld_cpu_ms_per_job"), ("hai", "S1", hai, "controller_cpu_ms_per_job"))


def drains(name, slurm, hai):
    row(f"S2 {name}", "jobs/s", (*slurm, "jobs_per_s"), (*hai, "jobs_per_s"), True)
    if "drain" in hai:
        row("… nodes in use", "share", (*slurm, "node_util"), (*hai, "node_util"), True)
    row("… controller", "ms CPU/job", (*slurm, "ctld_cpu_ms_per_job"), (*hai, "controller_cpu_ms_per_job"))
    row("… nodes and clients", "ms CPU/job", (*slurm, "other_cpu_ms_per_job"), (*hai, "nodes_cpu_ms_per_job"))
    row("… controller, peak", "MB", (*slurm, "ctld_hwm_mb"), (*hai, "server_hwm_mb"))


row("S0 all nodes up", "s", ("slurm", "S0", "start", "all_idle_s"), ("hai", "S0", "start", "all_idle_s"))
row("… controller", "MB", ("slurm", "S0", "start", "ctld_rss_mb"), ("hai", "S0", "start", "ctld_rss_mb"))
submits("4 × sbatch / hai exec", "sbatch_x4_processes", "cli_x4_processes")
submits("1 client", "libslurm_1_client", "grpc_1_client")
submits("4 clients", "libslurm_4_clients", "grpc_4_clients")
submits("16 clients", "libslurm_16_clients", "grpc_16_clients")
submits("1 client, jobs that may not start yet", "libslurm_1_client_held_jobs", "grpc_1_client_not_eligible")
drains("queue of gangs, 1–5 s each", ("slurm", "S2", "htc_tuned"), ("hai", "S2", "drain"))
drains("the same, each ends at once", ("slurm-ends-at-once", "S2", "htc_tuned"), ("hai", "S2b", "ends_at_once"))
drains("the same as allocations without a script", ("slurm", "S2b", "allocation_only_churn"), ("hai", "S2b", "ends_at_once"))
drains("64 nodes, 1,000 gangs, real processes on both sides", ("slurm-real", "S2", "htc_tuned"), ("hai", "S2r", "real_processes"))
for nodes in (1, 64, 1_000):
    label = f"{nodes:,} node{'s' if nodes > 1 else ''}"
    # hai places a job in the transaction that makes its submit durable.
    for what, name, of_hai in (
        ("sbatch_to_running_tuned", "acknowledged → running", ""),
        ("allocation_rpc", "nodes assigned (Slurm: allocation without a launch; hai: the answer)", "ack_"),
    ):
        for share in ("p50", "p99"):
            title = f"S3 {name}, {label}, p50" if share == "p50" else "… p99"
            row(title, "ms", ("slurm", "S3", what, f"{share}_ms", nodes), ("hai", "S3", "submit_to_running", f"{of_hai}{share}_ms", nodes))
row("S4 512-node job interrupts 1-node jobs", "s", ("slurm", "S4", "preempt", "run_s"), ("hai", "S4", "preempt", "run_s"))
row("S5 submit while all nodes run", "jobs/s", ("slurm", "S5", "submit_while_running", "jobs_per_s"), ("hai", "S5", "submit_while_running", "jobs_per_s"), True)
row("S5 kill -9, started again → list answers", "s", ("slurm", "S5", "kill9_restart", "squeue_answers_s"), ("hai", "S5", "kill9_restart", "squeue_answers_s"))
row("… jobs lost of 11,250", "jobs", ("slurm", "S5", "kill9_restart", "lost"), ("hai", "S5", "kill9_restart", "lost"))
row("S5 kill -9 right after 200 acknowledgements: lost", "jobs", ("slurm", "S5", "ack_then_kill9", "lost"), ("hai", "S5", "ack_then_kill9", "lost"))
for name, slurm, hai in (
    ("squeue / hai list, 11,250 jobs", "squeue_all", "list_all"),
    ("one job, by command", "squeue_one", "status_one"),
    ("sinfo / hai nodes (hai: a line per node)", "sinfo", "nodes"),
    ("one job, by API", "libslurm_load_job", "grpc_get_job"),
    ("one job, by REST", "rest_job_one", "rest_job_one"),
    ("all jobs, by REST", "rest_jobs_all", "rest_jobs_all"),
):
    row(f"S6 {name}, p50", "ms", ("slurm", "S6", slurm, "p50_ms"), ("hai", "S6", hai, "p50_ms"))


def main():
    folder = pathlib.Path(sys.argv[1])
    data = {name: read(folder, f"{name}-[0-9]*.jsonl") for name in ("slurm", "hai", "slurm-ends-at-once", "slurm-real")}
    print("| what | unit | Slurm 22.05 | hai | ratio |\n|---|---|---|---|---|")
    for name, unit, slurm, hai, more_is_better, scale in ROWS:
        cells, middles = [], []
        for place, factor in ((slurm, scale[0]), (hai, scale[1])):
            file, scenario, what, key = place[:4]
            nodes = place[4] if len(place) > 4 else 0
            cell, middle = text(values(data[file].get((scenario, what, nodes), []), key, factor))
            cells.append(cell)
            middles.append(middle)
        ratio = "—"
        if None not in middles and min(middles) > 0:
            share = middles[1] / middles[0] if more_is_better else middles[0] / middles[1]
            ratio = f"{share:,.3g} ×"
        print(f"| {name} | {unit} | {cells[0]} | {cells[1]} | {ratio} |")


if __name__ == "__main__":
    main()
