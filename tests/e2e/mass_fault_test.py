"""A leaf switch that goes dark takes the links of its nodes with it: that is no fault of 20 nodes."""

import unittest

from scenes import Stage, beside

NODES = 20


class MassFaultTest(Stage):
    knobs = ["--knob", "validate_period=0s"]

    @beside("leaf", nodes=NODES)
    def test_a_leaf_that_loses_its_links_is_one_incident_and_moves_nobody(self, scene):
        jobs = [scene.run("gang", nodes=8), scene.run("one")]
        scene.breaks(lambda: [node.port_down() for node in scene.hardware])
        opened = scene.timeline.wait(None, "incident_opened", "ib_link", scene.mark)
        held = max(
            scene.after(scene.node_says(node, "node_scheduling_changed", "cordoned"))
            for node in scene.hardware
        )
        [incident] = scene.cluster.json("incidents")
        self.assertEqual(incident["kind"], "mass_fault")
        self.assertEqual(sorted(incident["nodes"]), sorted(node.node for node in scene.hardware))
        self.assertIn("20 nodes of leaf A/leaf", incident["summary"])
        scene.breaks(lambda: [node.port_up() for node in scene.hardware])
        for node in scene.hardware:
            scene.opens(node)
        closed = scene.timeline.wait(opened["subject"], "incident_closed", "", scene.mark)
        for job in jobs:
            now = scene.cluster.job(job)
            self.assertEqual((now["state"], now["attempt"]), ("running", 1), now)
        self.assertEqual([node.hooks() for node in scene.hardware], [[]] * NODES)
        self.assertEqual(scene.cluster.json("incidents"), [])
        scene.measured(
            "leaf of 20 nodes loses its links", "held, one incident", "goes on", None, held
        )
        scene.measured(
            "… and has them again", "open, incident closed", "", None, scene.after(closed)
        )


if __name__ == "__main__":
    unittest.main()
