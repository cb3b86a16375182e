"""The ladder of a node's repair, step by step: a person can see and undo each, and a server that is
killed in the middle of it goes on."""

import unittest

from cluster import eventually
from scenes import Stage, beside


class RepairTest(Stage):
    def repair(self, scene, node, step, after=None):
        return scene.node_says(node, "node_repair_changed", f"repair: {step}", after)

    def undrain(self, scene, node):
        """It takes jobs at once, and nothing is left of its repair."""
        mark = scene.timeline.last()
        scene.cluster.ok("undrain", node.node)
        scene.node_says(node, "node_repair_changed", "its repair is over", mark)
        now = scene.node(node)
        self.assertEqual((now["scheduling"], now["repair"]), ("open", None), now)
        self.assertIsNone(scene.incident(node))

    @beside("asked")
    def test_a_person_asks_for_a_validation(self, scene):
        node = scene.hardware[0]
        scene.breaks(lambda: scene.cluster.ok("validate", node.node))
        self.repair(scene, node, "validating")
        opened = scene.opens(node)
        self.mended(scene, node, [])
        self.assertIn("as they should be", scene.node(node)["validation"]["text"])
        scene.measured("`hai validate` of an idle node", "validated, open", "", None, opened)

    @beside("busy", nodes=1)
    def test_undrain_while_its_jobs_end(self, scene):
        job = scene.run()
        node = scene.where(job)
        scene.breaks(lambda: scene.cluster.ok("validate", node.node))
        self.repair(scene, node, "emptying")
        incident = scene.incident(node)
        shown = scene.cluster.ok("incidents", "show", incident["id"])
        self.assertIn("asked for by", shown)
        self.undrain(scene, node)
        now = scene.cluster.job(job)
        self.assertEqual((now["state"], now["attempt"]), ("running", 1))

    @beside("slow", nodes=1, agent={"validator": {"options": "--seconds 60s --tests cpu"}})
    def test_undrain_while_it_is_validated(self, scene):
        [node] = scene.hardware
        scene.breaks(lambda: scene.cluster.ok("validate", node.node))
        scene.node_says(node, "node_repair_changed", "repair: validating")
        [job] = eventually("its validation runs", lambda: scene.node(node)["jobs"])
        scene.job_says(job, "attempt_running")
        self.undrain(scene, node)
        # Nobody needs its answer any more.
        left = scene.job_says(job, "job_finished")
        self.assertLess(scene.after(left), 45)
        self.assertEqual(scene.cluster.job(job)["state"], "stopped")
        self.assertEqual(scene.node(node)["scheduling"], "open")

    @beside("hook", nodes=1)
    def test_undrain_while_its_hook_runs(self, scene):
        [node] = scene.hardware
        wait = node.folder / "hook_waits"
        wait.touch()
        node.hook(f"while [ -e {wait} ]; do sleep 0.1; done")
        scene.breaks(lambda: node.xid(79, "GPU has fallen off the bus."))
        self.repair(scene, node, "repairing")
        eventually("the hook runs", lambda: node.hooks() == ["reset_gpus"])
        self.undrain(scene, node)
        wait.unlink()
        job = scene.run()
        self.assertEqual(scene.cluster.job(job)["nodes"], [node.node])
        self.assertEqual(scene.node(node)["scheduling"], "open")

    @beside("invalid", nodes=1, agent={"validator": {"options": "--tests storage --dir /nowhere"}})
    def test_a_node_that_fails_its_validations_ends_in_service(self, scene):
        [node] = scene.hardware
        scene.breaks(lambda: scene.cluster.ok("validate", node.node))
        service = self.repair(scene, node, "service")
        self.assertEqual(node.hooks(), ["reboot", "reboot"])
        now = scene.node(node)
        self.assertEqual((now["scheduling"], now["repair"]["step"]), ("drained", "service"), now)
        self.assertIn("/nowhere", now["repair"]["reason"])
        incident = scene.incident(node)
        notes = " ".join(note["text"] for note in incident["notes"])
        self.assertIn("reboot ordered", notes)
        scene.measured(
            "validation fails, and after two hooks",
            "in service after it",
            "",
            None,
            scene.after(service),
        )
        # Closing its incident opens no node; undrain does.
        scene.cluster.ok("incidents", "close", incident["id"], "--reason", "on its way back")
        self.assertIsNone(scene.incident(node))
        self.assertEqual(scene.node(node)["scheduling"], "drained")
        self.undrain(scene, node)

    @beside("drained", nodes=1)
    def test_a_node_that_a_person_has_drained_stays_so(self, scene):
        [node] = scene.hardware
        scene.cluster.ok("drain", node.node, "--reason", "new cables")
        scene.breaks(lambda: node.xid(79, "GPU has fallen off the bus."))
        noted = scene.timeline.wait(None, "incident_noted", "stays drained", scene.mark)
        self.assertEqual(node.hooks(), [])
        now = scene.node(node)
        self.assertEqual((now["scheduling"], now["reason"]), ("drained", "new cables"), now)
        self.assertIn(noted["subject"], f"incident/{scene.incident(node)['id']}")
        self.undrain(scene, node)

    @beside("killed", nodes=2)
    def test_a_repair_goes_on_after_the_server_was_killed(self, scene):
        """When all others have been played: they ask the server, too."""
        for name, begun in list(self.begun.items()):
            if name != self._testMethodName:
                begun.exception()
        job = scene.run()
        node = scene.where(job)
        wait = node.folder / "hook_waits"
        wait.touch()
        node.hook(f"while [ -e {wait} ]; do sleep 0.1; done")
        scene.breaks(lambda: node.xid(79, "GPU has fallen off the bus."))
        again = scene.runs_again(job)
        eventually("the hook runs", lambda: node.hooks() == ["reset_gpus"])
        scene.cluster.kill("server")
        wait.unlink()  # it ends while nobody leads
        scene.cluster.start("server")
        opened = scene.opens(node)
        self.mended(scene, node, ["reset_gpus"])
        self.moved(scene, job, node, requeues=1)
        scene.measured(
            "Xid 79, server killed in between",
            "drained, GPUs reset",
            "ended, requeued",
            again,
            opened,
        )


if __name__ == "__main__":
    unittest.main()
