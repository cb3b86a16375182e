"""Sessions in a Markdown file as something to run. A block of ```console holds commands after "$ " and
what each answers; "…" in an answer stands for anything in a line, alone in a line for any lines."""

import os
import re
import subprocess
import time

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Step:
    def __init__(self, command):
        self.command, self.expected = command, []

    def pattern(self):
        """The answer as a regular expression. Columns may be wider than on the day of writing."""
        parts = []
        for line in self.expected:
            if line.strip() == "…":
                parts.append(r"(?:.*\n)*?")
                continue
            words = []
            for word in line.split():
                words.append(".*?".join(re.escape(part) for part in word.split("…")))
            line_pattern = " +".join(words).replace(" +.*? +", " .*?")
            parts.append(f" *{line_pattern} *\n")
        return re.compile("".join(parts))

    def fits(self, answer):
        if answer and not answer.endswith("\n"):
            answer += "\n"
        return self.pattern().fullmatch(answer) is not None


def steps(text):
    """The commands of all blocks in their order."""
    found = []
    for block in BLOCK.findall(text):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append(Step(line[2:]))
            elif found:
                found[-1].expected.append(line)
            else:
                raise ValueError(f"an answer before the first command: {line}")
    return found


class Session:
    """A shell as far as a tutorial needs it: `cd` and `export` last, the rest runs in one of its own.
    What only reads is asked again until it answers as expected, as a person would look again."""

    READING = re.compile(r"^hai (list|status|nodes|why|events|logs|top --once)\b")

    def __init__(self, directory, environment):
        self.directory, self.environment = str(directory), dict(environment)

    def run(self, step, seconds=150):
        if step.command.startswith("cd "):
            self.directory = os.path.join(self.directory, step.command[3:])
            return
        if step.command.startswith("export "):
            # A word with $PWD and $PATH in it, as the shell would read it.
            name, value = step.command[7:].split("=", 1)
            self.environment[name] = self.shell(f"printf %s {value}", seconds).rstrip("\n")
            return
        deadline = time.monotonic() + seconds
        while True:
            answer = self.shell(step.command, seconds)
            if step.fits(answer):
                return
            if not self.READING.match(step.command) or time.monotonic() > deadline:
                raise AssertionError(
                    f"$ {step.command}\n--- expected\n"
                    + "\n".join(step.expected)
                    + f"\n--- but it said\n{answer}"
                )
            time.sleep(0.2)

    def shell(self, command, seconds):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.directory,
            env={**self.environment, "PWD": self.directory},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            text=True,
            errors="replace",
        )
        return done.stdout
