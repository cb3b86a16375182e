"""What the jobs themselves wrote down: read back, and held against the rules that no crash may break."""

import dataclasses


@dataclasses.dataclass
class Run:
    """One rank of one attempt, as it saw itself."""

    job: int
    attempt: int
    rank: int
    node: str
    first: float
    last: float
    gpus: list
    began_at: int  # finished steps it started from
    steps: list = dataclasses.field(default_factory=list)
    saves: list = dataclasses.field(default_factory=list)
    lines_least: int = 0  # it has surely written so many lines
    lines: int = 0  # exactly so many, if it came to its end
    asleep: tuple = (0.0, 0.0)  # its longest silence, from and to

    def __str__(self):
        return (
            f"job {self.job} attempt {self.attempt} rank {self.rank} on {self.node}"
            f" {self.first:.1f}..{self.last:.1f}"
        )


def read_ledger(path):
    """([Run], [complaint]) of one job. A line that makes no sense is a complaint."""
    runs, complaints = {}, []
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        words = line.split()
        try:
            add_line(runs, int(path.name), words)
        except (ValueError, KeyError, IndexError) as error:
            complaints.append(f"{path.name}:{number}: {line!r}: {error!r}")
    return [runs[key] for key in sorted(runs)], complaints


def add_line(runs, job, words):
    kind, attempt, rank, node, at = words[0], int(words[1]), int(words[2]), words[3], float(words[4])
    key = (attempt, rank)
    if kind == "start":
        if key in runs:
            raise ValueError("the same rank of the same attempt starts twice")
        gpus = [] if words[5] == "-" else [int(gpu) for gpu in words[5].split(",")]
        runs[key] = Run(job, attempt, rank, node, at, at, gpus, int(words[6]))
        return
    run = runs[key]
    if run.lines:
        raise ValueError("it goes on after its end")
    if at - run.last > run.asleep[1] - run.asleep[0]:
        run.asleep = (run.last, at)
    run.last = at
    run.lines_least = 50 + sum(1 + (step + 1) % 3 for step in run.steps)
    if kind == "work":
        run.steps.append(int(words[5]))
    elif kind == "save":
        run.saves.append(int(words[5]))
    elif kind == "end":
        run.lines = int(words[5])
    elif kind != "mark":
        raise ValueError("unknown word")


def find_overlaps(runs):
    """Attempts of one job that ran at one time: (later run, earlier run, seconds)."""
    found = []
    last = {}  # attempt -> its run that lived longest
    for run in runs:
        known = last.get(run.attempt)
        if known is None or run.last > known.last:
            last[run.attempt] = run
    for run in runs:
        for attempt, other in last.items():
            if attempt < run.attempt and other.last >= run.first:
                found.append((run, other, other.last - run.first))
    return found


def check_work(runs, steps_wanted, ranks):
    """[complaint]: each rank's steps done, each counted once, redone only after the last checkpoint."""
    complaints = []
    for rank in range(ranks):
        done, saved = set(), 0
        for run in (run for run in runs if run.rank == rank):
            if run.began_at < saved:
                complaints.append(f"{run}: starts from step {run.began_at}, {saved} were saved")
            if run.steps != list(range(run.began_at, run.began_at + len(run.steps))):
                complaints.append(f"{run}: its steps are not in order: {run.steps}")
            if run.began_at > 0 and run.began_at - 1 not in done:
                complaints.append(f"{run}: starts from step {run.began_at}, which nobody has done")
            done.update(run.steps)
            saved = max([saved, *run.saves])
        missing = sorted(set(range(steps_wanted)) - done)
        if missing:
            complaints.append(f"rank {rank}: steps never done: {missing[:10]} of {steps_wanted}")
        if done - set(range(steps_wanted)):
            complaints.append(f"rank {rank}: more steps than there are")
        if not any(run.lines for run in runs if run.rank == rank):
            complaints.append(f"rank {rank} never came to its end")
    return complaints


def find_shared_gpus(runs):
    """Two ranks that held one GPU of a node at one time: (run, run, node, gpu)."""
    held, found = {}, []
    for run in runs:
        for gpu in run.gpus:
            held.setdefault((run.node, gpu), []).append(run)
    for (node, gpu), users in held.items():
        users.sort(key=lambda run: run.first)
        longest = None
        for run in users:
            if longest is not None and longest.last >= run.first:
                found.append((run, longest, node, gpu))
            if longest is None or run.last > longest.last:
                longest = run
    return found


def check_log(text, run):
    """What a rank wrote against what it counted. Gives "" or what is wrong; each line carries its
    number, and the platform puts the time before it."""
    numbers, lost = [], ""
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 3 and words[1] == "line" and words[2].isdigit():
            numbers.append(int(words[2]))
        elif "[hai:" in line:
            lost = line
    doubled = len(numbers) - len(set(numbers))
    if doubled:
        return f"{doubled} lines twice"
    missing = sorted(set(range(1, max(numbers, default=0) + 1)) - set(numbers))
    if missing:
        return f"lines {missing[:5]}… lost ({len(missing)}) {lost}"
    if numbers != sorted(numbers):
        return "lines not in order"
    if run.lines and len(numbers) != run.lines:
        return f"{len(numbers)} lines, it wrote {run.lines} {lost}"
    if len(numbers) < run.lines_least:
        return f"{len(numbers)} lines, it wrote {run.lines_least} at least {lost}"
    return ""
