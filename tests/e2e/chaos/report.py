"""What a run says at its end: one table, and all that helps to find out when something is wrong."""

import collections
import re
import time

from world import boot_now

COMPLAINTS_SHOWN = 8
JOBS_SHOWN = 4
EVENTS_SHOWN = 40


def summarise(judge, world, load, faults, times):
    truth = judge.truth
    states = collections.Counter(row.state for row in truth.jobs.values())
    endings = collections.Counter(row.state for row in truth.attempts.values())
    causes = collections.Counter(
        rank.cause for attempt in truth.attempts.values() for rank in attempt.ranks if rank.cause
    )
    kinds = collections.Counter(fault.kind for fault in faults if fault.began)
    runs = [run for each in judge.runs.values() for run in each]
    lost = sum(1 for row in truth.attempts.values() if row.state == "lost" and row.running)
    seconds, where = slowest_requeue(judge)
    rows = [
        ("jobs", f"{len(truth.jobs)}: {words(states)}"),
        ("submits", f"{len(load.requests)}, {words(load.counts)}"),
        ("attempts", f"{len(truth.attempts)}: {words(endings)}"),
        ("ranks that ran", f"{len(runs)}; ends: {words(causes)}"),
        ("lost while running", f"{lost}"),
        ("requeued", f"{sum(row.requeues for row in truth.jobs.values())}"),
        ("suspended", f"{sum(row.suspends for row in truth.jobs.values())}"),
        ("slowest requeue", f"{seconds:.1f} s, {where}" if where else "none"),
        ("faults", f"{sum(kinds.values())}: {words(kinds)}"),
        ("failovers", f"{truth.terms - 1}"),
        ("events", f"{truth.events}"),
        ("ended by themselves", f"{len(world.surprises)}"),
        ("times", ", ".join(f"{name} {value:.0f} s" for name, value in times.items())),
    ]
    return "\n".join(f"  {name:<20} {text}" for name, text in rows)


def words(counter):
    return ", ".join(f"{name} {count}" for name, count in sorted(counter.items())) or "none"


def slowest_requeue(judge):
    """From the last sign of life of a lost attempt to the first of the next one."""
    worst = (0.0, "")
    for job, runs in judge.runs.items():
        for attempt in {run.attempt for run in runs}:
            row = judge.truth.attempts.get((job, attempt))
            later = [run.first for run in runs if run.attempt > attempt]
            if row is None or row.state != "lost" or not later:
                continue
            last = max(run.last for run in runs if run.attempt == attempt)
            worst = max(worst, (min(later) - last, f"job {job} after attempt {attempt}"))
    return worst


def events_around(postgres, complaints):
    """Of the first jobs that are complained about: what the servers decided, in boot time."""
    jobs = []
    for wrong in complaints.values():
        for text in wrong:
            jobs += [job for job in re.findall(r"\bjob (\d+)", text) if job not in jobs]
    offset = time.time() - boot_now()
    lines = []
    for job in jobs[:JOBS_SHOWN]:
        lines.append(f"events of job {job}:")
        for row in postgres.rows(
            "SELECT seq, extract(epoch FROM time), actor, kind, left(body::text, 160) FROM event"
            f" WHERE subject = 'job/{job}' AND kind <> 'job_submitted'"
            f" ORDER BY seq DESC LIMIT {EVENTS_SHOWN}"
        )[::-1]:
            lines.append(f"  {row[0]:>7} {float(row[1]) - offset:9.1f} {' '.join(row[2:])}")
    return "\n".join(lines)


def verdict(complaints):
    """(text, is it good)"""
    lines, good = [], True
    for check, wrong in complaints.items():
        wrong = list(wrong)
        good = good and not wrong
        lines.append(f"  {'FAIL' if wrong else 'ok  '} {check}" + (f" ({len(wrong)})" if wrong else ""))
        lines += [f"         {text}" for text in wrong[:COMPLAINTS_SHOWN]]
        if len(wrong) > COMPLAINTS_SHOWN:
            lines.append(f"         … and {len(wrong) - COMPLAINTS_SHOWN} more")
    return "\n".join(lines), good
