"""The first thing a newcomer runs: interrupted in the middle, and then to its end with the cluster
still up and the first story's job still there."""

import signal
import subprocess
import unittest

from cluster import REPOSITORY, Cluster, programs

SCRIPT = str(REPOSITORY / "deploy" / "quickstart.sh")


class QuickstartTest(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(name="dev")
        self.cluster.data = self.cluster.root / "share" / "hai" / "dev" / "dev"
        self.addCleanup(lambda: self.assertEqual(self.cluster.close(), {}))
        self.environment = self.cluster.environment(
            HAI_BIN=programs(), XDG_DATA_HOME=self.cluster.root / "share", NO_COLOR=1
        )

    def start(self):
        process = subprocess.Popen(
            [SCRIPT],
            cwd="/",
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.cluster.followers.append(process)
        return process

    def test_the_story_is_told_to_its_end_after_it_was_interrupted(self):
        first = self.start()
        for line in first.stdout:
            if "Something more important needs all four nodes" in line:
                break
        first.send_signal(signal.SIGINT)
        out, err = first.communicate(timeout=60)
        self.assertEqual(first.returncode, 130, out + err)
        self.assertIn("the cluster stays as it is", out)

        second = self.start()
        out, err = second.communicate(timeout=300)
        self.assertEqual(second.returncode, 0, out + err)
        self.assertEqual(err, "")
        self.assertIn("Stopping what an earlier story has left", out)
        self.assertIn("They are the same, bit for bit.", out)
        self.assertIn("Your turn", out)


if __name__ == "__main__":
    unittest.main()
