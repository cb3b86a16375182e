"""The tutorial is true: its commands are run in their order and answer what it says."""

import os
import unittest

import console
from cluster import REPOSITORY, Cluster, programs

TUTORIAL = REPOSITORY / "docs" / "tutorial-cli.md"


class ConsoleTest(unittest.TestCase):
    """The reader of tutorials finds what is wrong with one."""

    def step(self, *expected):
        step = console.Step("x")
        step.expected = list(expected)
        return step

    def test_dots_stand_for_what_differs(self):
        self.assertTrue(self.step("job … runs", "…", "end").fits("job 7 runs\na\nb\nend\n"))
        self.assertTrue(self.step("a", "…").fits("a\n"))
        self.assertTrue(self.step(" 2  x … y").fits("    2  x      1  y\n"))
        self.assertFalse(self.step("job … runs").fits("job 7 waits\n"))
        self.assertFalse(self.step("a").fits("a\nb\n"))
        self.assertFalse(self.step("a", "…", "b").fits("a\n"))
        self.assertFalse(self.step().fits("anything\n"))
        self.assertTrue(self.step().fits(""))

    def test_blocks_become_steps(self):
        steps = console.steps("x\n```console\n$ a\n1\n$ b\n```\n```sh\n$ no\n```\n")
        self.assertEqual([(s.command, s.expected) for s in steps], [("a", ["1"]), ("b", [])])

    def test_a_wrong_answer_fails(self):
        session = console.Session("/", os.environ)
        with self.assertRaisesRegex(AssertionError, "but it said\none"):
            session.run(console.steps("```console\n$ echo one\ntwo\n```\n")[0])


class TutorialTest(unittest.TestCase):
    def test_every_command_answers_what_the_tutorial_says(self):
        cluster = Cluster(name="tutorial")
        self.addCleanup(lambda: self.assertEqual(cluster.close(), {}))
        # Not where root's clusters are, which is one place for all who test on this machine.
        share = cluster.root / "share"
        cluster.data = share / "hai" / "dev" / "tutorial"
        session = console.Session(REPOSITORY, cluster.environment(NO_COLOR=1, XDG_DATA_HOME=share))
        steps = console.steps(TUTORIAL.read_text())
        self.assertGreater(len(steps), 25)
        for step in steps:
            if "build/quick/bin" in step.command:  # the programs under test, wherever they are
                session.environment["PATH"] = f"{programs()}:{session.environment['PATH']}"
            else:
                session.run(step)


if __name__ == "__main__":
    unittest.main()
