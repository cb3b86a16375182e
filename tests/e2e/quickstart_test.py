"""The first thing a newcomer runs, twice: the second time with the cluster still up."""

import subprocess
import unittest

from cluster import REPOSITORY, Cluster, programs


class QuickstartTest(unittest.TestCase):
    def test_the_story_is_told_to_its_end_twice(self):
        cluster = Cluster(name="dev")
        self.addCleanup(lambda: self.assertEqual(cluster.close(), {}))
        cluster.data = cluster.root / "share" / "hai" / "dev" / "dev"
        environment = cluster.environment(
            HAI_BIN=programs(), XDG_DATA_HOME=cluster.root / "share", NO_COLOR=1
        )
        for _ in range(2):
            done = subprocess.run(
                [str(REPOSITORY / "deploy" / "quickstart.sh")],
                cwd="/",
                env=environment,
                timeout=240,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("They are the same, bit for bit.", done.stdout)
            self.assertIn("Your turn", done.stdout)
            self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
