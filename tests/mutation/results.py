"""What became of each mutant: one line of JSON each, so that a run that was cut off goes on where it was."""

import json


class Results:
    def __init__(self, path):
        self.path = path
        self.by_key = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                self.by_key[row["key"]] = row

    def unjudged(self, mutants, again):
        def is_open(row):
            return row is not None and row["outcome"] == "survived" if again else row is None
        return [mutant for mutant in mutants if is_open(self.by_key.get(mutant.key))]

    def add(self, mutant, outcome, by, seconds):
        row = {
            "key": mutant.key, "file": mutant.file, "line": mutant.line, "operator": mutant.operator,
            "before": mutant.before, "after": mutant.after, "outcome": outcome, "by": by, "seconds": round(seconds, 1),
        }
        self.by_key[mutant.key] = row
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def outcomes(self, mutants):
        return [(mutant, self.by_key[mutant.key]["outcome"]) for mutant in mutants if mutant.key in self.by_key]

    def count_compiled(self, mutants):
        return sum(outcome != "did not compile" for _, outcome in self.outcomes(mutants))


def report(root, mutants, results):
    """The exit status: 1 if one survived."""
    outcomes = results.outcomes(mutants)
    survivors = [mutant for mutant, outcome in outcomes if outcome == "survived"]
    killed = sum(outcome == "killed" for _, outcome in outcomes)
    broken = len(outcomes) - killed - len(survivors)
    for mutant in sorted(survivors, key=lambda each: (each.file, each.line)):
        print(f"\n{mutant.file}:{mutant.line} survived: {mutant.operator}")
        print("\n".join(mutant.diff((root / mutant.file).read_text(encoding="utf-8"))))
    score = 100 * killed / max(1, killed + len(survivors))
    print(f"\n{killed} killed, {len(survivors)} survived, {broken} did not compile: {score:.1f} %")
    return 1 if survivors else 0
