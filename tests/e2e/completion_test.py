"""Completion in the shells themselves: their own scripts, their own TAB, names of a live cluster."""

import os
import shutil
import socket
import subprocess
import time
import unittest

from cluster import ClusterTest, programs
from shells import Shell

# The line up to the cursor: words that must be offered for it, and words that must not.
LINES = [
    ("hai logs tr", ["train-7b"], ["sweep"]),
    ("hai logs -r 0 tr", ["train-7b"], []),
    ("hai drain no", ["node-1", "node-2"], ["train-7b"]),
    ("hai list --output=js", ["json", "jsonl"], ["table"]),
    ("hai list -s running,su", ["suspended", "succeeded"], ["failed"]),
    ("hai list -g tr", ["training"], []),
    ("hai quota se", ["set"], ["list"]),
    ("hai list --fini", ["--finished"], ["--state"]),
    ("hai --context ", ["completion"], []),
    ("hai priority train-7b very_", ["very_high"], ["high"]),
    ("hai run prog", ["program.py"], ["train-7b"]),
    ("hai python prog", ["program.py"], ["train-7b"]),
    ("hai exec fals", ["false"], ["train-7b"]),
    ("hai python program.py -- --node", ["--nodes", "--nodelist"], []),
    ("hai dev kill node:node-1", ["node-1"], ["postgres"]),
]


class CompletionTest(ClusterTest):
    shape = {"name": "completion", "nodes": 2}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.file("program.py", "print(1)\n")
        later = ("--begin-at", "2099-01-01T00:00:00Z")
        cls.job = cls.cluster.exec("true", "--name", "train-7b", *later)
        cls.cluster.exec("true", "--name", "sweep", *later)
        for shell in ("bash", "zsh", "fish"):
            cls.cluster.file(f"hai.{shell}", cls.cluster.ok("completion", shell))

    def environment(self):
        return self.cluster.environment(
            PATH=f"{programs()}:{os.environ['PATH']}", TERM="dumb", PS1="$ ", COLUMNS=200
        )

    def need(self, shell):
        if shutil.which(shell) is None:
            self.skipTest(f"{shell} is not installed")

    def script(self, shell):
        return str(self.cluster.work / f"hai.{shell}")

    def output_of(self, *command):
        done = subprocess.run(
            list(map(str, command)),
            capture_output=True,
            text=True,
            timeout=60,
            cwd=self.cluster.work,
            env=self.environment(),
        )
        self.assertEqual(done.stderr, "", command)
        return done.stdout

    def check(self, line, offered, wanted, unwanted):
        # What a shell offers is the whole word or what its own rules leave of it.
        ends = {word.replace(":", "=").replace(",", "=").split("=")[-1] for word in offered}
        for word in wanted:
            self.assertIn(word, ends | set(offered), (line, offered))
        for word in unwanted:
            self.assertNotIn(word, ends | set(offered), (line, offered))

    def test_what_the_shells_ask_answers_at_once_and_knows_ids(self):
        begin = time.monotonic()
        offered = self.cluster.ok("__complete", "status", str(self.job)[0]).splitlines()
        self.assertLess(time.monotonic() - begin, 5)
        self.assertIn(f"{self.job}\ttrain-7b, queued, 1 node, auto", offered)
        self.assertEqual(self.cluster.ok("__complete", "context", "use", "").split("\t")[0], "completion")

    def test_a_server_that_is_not_there_completes_nothing_and_says_nothing(self):
        other = {"HAI_CONFIG": self.cluster.root / "other.json"}
        self.cluster.ok("init", "x", "--url", "127.0.0.1:1", "--name", "gone", "--offline", env=other)
        result = self.cluster.hai("__complete", "logs", "", env=other)
        self.assertEqual((result.code, result.out, result.err), (0, "", ""))
        result = self.cluster.hai("__complete", "logs", "", env={"HAI_CONFIG": "/dev/null/x"})
        self.assertEqual((result.code, result.out, result.err), (0, "", ""))

    def test_a_server_that_never_answers_is_not_waited_for(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            other = {"HAI_CONFIG": self.cluster.root / "silent.json"}
            url = f"127.0.0.1:{silent.getsockname()[1]}"
            self.cluster.ok("init", "x", "--url", url, "--name", "mute", "--offline", env=other)
            begin = time.monotonic()
            result = self.cluster.hai("__complete", "drain", "", env=other)
            # Half a second by its own clock; any other command waits 30 s.
            self.assertLess(time.monotonic() - begin, 10)
            self.assertEqual((result.code, result.out, result.err), (0, "", ""))

    def test_bash_offers_them(self):
        self.need("bash")
        # As readline cuts the line into words: at blanks, = and :.
        script = """
            source "$1"; COMP_LINE=$2; COMP_POINT=${#2}; shift 2
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hai hai
            printf '%s\\n' "${COMPREPLY[@]}"
        """
        for line, wanted, unwanted in LINES:
            with self.subTest(line):
                words = line.replace("=", " = ").replace(":", " : ").split(" ")
                out = self.output_of(
                    "bash", "--norc", "-c", script, "bash", self.script("bash"), line, *words
                )
                self.check(line, out.splitlines(), wanted, unwanted)

    def test_bash_at_a_terminal(self):
        self.need("bash")
        shell = Shell(["bash", "--norc", "--noprofile", "-i"], self.environment(), self.cluster.work)
        try:
            shell.type(f"source {self.script('bash')}; echo rea''dy\n")
            shell.wait_for("ready")
            shell.type("hai logs tr\t")
            shell.wait_for("train-7b")
            shell.type("\x15hai dev kill --name completion node:node-2\t\x01echo \x05\n")
            shell.wait_for("\nhai dev kill --name completion node:node-2")
        finally:
            shell.close()

    def test_fish_offers_them(self):
        self.need("fish")
        for line, wanted, unwanted in LINES:
            with self.subTest(line):
                out = self.output_of(
                    "fish", "--no-config", "-c",
                    "source $argv[1]; complete -C $argv[2]", self.script("fish"), line,
                )
                offered = [each.partition("\t")[0] for each in out.splitlines()]
                self.check(line, offered, wanted, unwanted)
        out = self.output_of(
            "fish", "--no-config", "-c",
            "source $argv[1]; complete -C $argv[2]", self.script("fish"), "hai logs tr",
        )
        self.assertIn("train-7b\tqueued, 1 node, auto", out)

    def test_zsh_at_a_terminal(self):
        self.need("zsh")
        shell = Shell(["zsh", "-f", "-i"], self.environment(), self.cluster.work)
        try:
            shell.type(
                "unsetopt zle_bracketed_paste beep; PS1='$ '; autoload -Uz compinit; compinit -D -u; "
                f"source {self.script('zsh')}; echo rea''dy\n"
            )
            shell.wait_for("ready")
            for line, whole in (
                ("hai logs tr", "hai logs train-7b"),
                ("hai list --fini", "hai list --finished"),
                ("hai list --output=jsonl -s run", "hai list --output=jsonl -s running"),
                ("hai python prog", "hai python program.py"),
                ("hai python program.py -- --gro", "hai python program.py -- --group"),
            ):
                with self.subTest(line):
                    shell.type(line + "\t\x01echo \x05\n")
                    shell.wait_for("\n" + whole)
            # Several: a list with what each is.
            shell.type("hai drain no\t\t")
            shell.wait_for("up open")
        finally:
            shell.close()


if __name__ == "__main__":
    unittest.main()
