"""The event log of a real cluster: it rebuilds all rows and the leader's memory, it is exported, and
the production planner decides again what it records. A changed line is found out."""

import gzip
import json
import subprocess
import unittest

from cluster import ClusterTest, eventually, programs


class LogTest(ClusterTest):
    shape = {"name": "log", "nodes": 3}

    def server(self, *words):
        """Runs a command of hai-server on the cluster's config."""
        return subprocess.run(
            [str(programs() / "hai-server"), "--config", str(self.cluster.data / "server.yaml")]
            + [str(word) for word in words],
            capture_output=True,
            text=True,
            timeout=120,
        )

    def replay(self, *words):
        return subprocess.run(
            [str(programs() / "hai-sim"), "replay", *map(str, words)],
            capture_output=True,
            text=True,
            timeout=120,
        )

    def verify_live(self):
        http = self.cluster.status()["http"]
        return self.server("verify", "--live", http, "--ca", self.cluster.data / "ca" / "ca.crt")

    def live_through_something(self):
        """Jobs that end, fail, are stopped, held, interrupted and lost; two servers, a lost node."""
        cluster = self.cluster
        ends = [cluster.exec(f"exit {code}") for code in (0, 0, 3)]
        low = cluster.run(
            cluster.spec(
                "low",
                cluster.file(
                    "low.sh", "#!/bin/sh\ntrap 'exit 85' USR1\nwhile :; do sleep 0.1; done\n"
                ),
                nodes=2,
                priority="low",
                options={"suspend": {"signal": "USR1", "grace": "20s"}},
            )
        )
        cluster.wait_running(low)
        high = cluster.run(
            cluster.spec(
                "high", cluster.file("high.sh", "#!/bin/sh\nsleep 1\n"), nodes=3, priority="high"
            )
        )
        cluster.wait_end(high)
        cluster.wait_running(low, attempt=2)
        held = cluster.run(cluster.spec("held", "/bin/true", nodes=3, priority="low"))
        cluster.ok("hold", held)
        cluster.kill("server")
        cluster.start("server")
        eventually("the server leads", lambda: cluster.hai("list").code == 0)
        cluster.wait_running(low, attempt=2)
        for job, state in zip(ends, ("succeeded", "succeeded", "failed")):
            cluster.wait_end(job, state)
        cluster.ok("stop", low)
        cluster.wait_end(low, "stopped")
        return low

    def test_the_log_tells_everything(self):
        low = self.live_through_something()
        found = self.verify_live()
        self.assertEqual(found.returncode, 0, found)
        self.assertIn("log, rows and server agree", found.stdout)

        log = self.cluster.root / "log.jsonl.gz"
        exported = self.server("export", "--out", log)
        self.assertEqual(exported.returncode, 0, exported)
        again = self.server("export", "--out", log)
        self.assertEqual(again.returncode, 2, "an export must not replace a file")

        replayed = self.replay(log, "--strict", "--every-turn")
        self.assertEqual(replayed.returncode, 0, replayed.stdout + replayed.stderr)
        self.assertIn(" 0 differences", replayed.stdout)

        with gzip.open(log, "rt") as lines:
            events = [json.loads(line) for line in lines]
        placed = [event for event in events if event["kind"] == "attempt_placed"]
        self.assertIn(low, [event["body"]["job"] for event in placed])
        self.finds_a_changed_line(events, placed[1])
        self.nothing_is_old_enough()

    def finds_a_changed_line(self, events, event):
        event["body"]["jumper"] = not event["body"]["jumper"]
        changed = self.cluster.root / "changed.jsonl"
        changed.write_text("".join(json.dumps(event) + "\n" for event in events))
        replayed = self.replay(changed)
        self.assertEqual(replayed.returncode, 1, replayed)
        self.assertIn(f"WRONG     event {event['seq']}", replayed.stdout)

    def nothing_is_old_enough(self):
        folder = self.cluster.root / "archive"
        folder.mkdir()
        archived = self.server("archive", "--older-than", "90d", "--dir", folder)
        self.assertEqual(archived.returncode, 0, archived)
        self.assertIn("nothing is older than 90d", archived.stdout)
        self.assertEqual(list(folder.iterdir()), [])
        self.assertEqual(
            self.server("archive", "--older-than", "1m", "--dir", folder).returncode, 2
        )

    def test_only_admins_may_ask_for_the_digest(self):
        token = self.cluster.root / "nobody.token"
        token.write_text("hai_" + "0" * 40 + "\n")
        token.chmod(0o600)
        http, ca = self.cluster.status()["http"], self.cluster.data / "ca" / "ca.crt"
        found = self.server("verify", "--live", http, "--ca", ca, "--token-file", token)
        self.assertEqual(found.returncode, 1, found)
        self.assertIn("401", found.stderr)


if __name__ == "__main__":
    unittest.main()
