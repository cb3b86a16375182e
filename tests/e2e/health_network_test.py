"""What a fault of a node's network or file systems does, and what happens when ranks hang: as in
health_test.py, for what heals by itself or needs a person with a cable."""

import unittest

from cluster import SDK, eventually
from hardware import hanging_mount
from scenes import WORKER, Stage, beside

NO_REMEDY = "echo no such remedy; exit 1"
FAILS = (
    """
if [ "$HAI_ATTEMPT" = 1 ]; then
  while [ ! -e "$2" ]; do sleep 0.1; done
  exit 3
fi
"""
    + WORKER
)
# Two ranks in step with each other; the second stops for good in its first attempt.
STEPS = """
import os, pathlib, sys, time
sys.path.insert(0, sys.argv[3])
import hai
stop, peers = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
rank, attempt = int(os.environ["HAI_NODE_RANK"]), os.environ["HAI_ATTEMPT"]
def stands_still():
    while True:
        time.sleep(3600)
step = 0
while not stop.exists():
    step += 1
    if attempt == "1" and rank == 1 and step == 4:
        stands_still()
    hai.report_progress(step)
    (peers / f"{attempt}.{rank}.{step}").touch()
    while not (peers / f"{attempt}.{1 - rank}.{step}").exists() and not stop.exists():
        time.sleep(0.05)
    time.sleep(0.1)
"""


class NetworkTest(Stage):
    def in_service(self, scene, node):
        """Its site had no remedy."""
        service = scene.node_says(node, "node_repair_changed", "repair: service")
        self.assertIn("no such remedy", service["text"])
        now = scene.node(node)
        self.assertEqual((now["scheduling"], now["health"]), ("drained", "fail"), now)
        return service

    def heals(self, scene, node, heal):
        """Seconds until it took jobs again."""
        scene.breaks(heal)
        opened = scene.opens(node)
        self.mended(scene, node, ["reboot"])
        return opened

    @beside("port")
    def test_a_job_that_fails_by_its_port_runs_elsewhere(self, scene):
        job = scene.run(script=FAILS, arguments=scene.told)
        node = scene.where(job)
        node.hook(NO_REMEDY)
        scene.breaks(node.port_down)
        scene.node_says(node, "node_check_changed", "ib_link mlx5_0/1 is warn")
        scene.told.touch()
        again = scene.runs_again(job)
        self.assertIn("ib_link", scene.job_says(job, "job_requeued")["text"])
        self.moved(scene, job, node, requeues=1)
        service = scene.after(self.in_service(scene, node))
        scene.measured(
            "IB port down, its job fails", "in service after it", "requeued", again, service
        )
        opened = self.heals(scene, node, node.port_up)
        scene.measured("… and up again", "validated, open", "", None, opened)

    @beside("silent")
    def test_a_port_that_stays_down_ends_the_job(self, scene):
        job = scene.run()
        node = scene.where(job)
        node.hook(NO_REMEDY)
        scene.breaks(node.port_down)
        again = scene.runs_again(job)
        self.moved(scene, job, node, requeues=1)
        service = scene.after(self.in_service(scene, node))
        scene.measured("IB port down", "in service after it", "ended, requeued", again, service)

    @beside("flaps")
    def test_a_port_that_flaps_drains_until_a_person_says_otherwise(self, scene):
        job = scene.run()
        node = scene.where(job)
        node.hook(NO_REMEDY)
        scene.breaks(lambda: node.port("counters/link_downed", "4"))
        again = scene.runs_again(job)
        self.moved(scene, job, node, suspends=1)
        service = scene.after(self.in_service(scene, node))
        scene.measured(
            "IB port flaps 3 times", "in service after it", "moved with notice", again, service
        )
        scene.cluster.ok("undrain", node.node)
        self.assertEqual(scene.node(node)["scheduling"], "open")
        mark = scene.timeline.last()
        node.port("counters/link_downed", "5")
        drained = scene.node_says(node, "node_scheduling_changed", "drained", after=mark)
        self.assertIn("lost its link 4 times", drained["text"])

    @beside("flash")
    def test_a_flash_cut_of_the_network_moves_nobody(self, scene):
        job = scene.run()
        node = scene.where(job)
        scene.breaks(node.port_down)
        scene.node_says(node, "node_check_changed", "ib_link mlx5_0/1 is warn")
        node.port_up()
        healed = scene.node_says(node, "node_check_changed", "ib_link mlx5_0/1 is ok")
        now = scene.cluster.job(job)
        self.assertEqual((now["state"], now["attempt"]), ("running", 1))
        self.assertEqual((scene.node(node)["scheduling"], node.hooks()), ("open", []))
        self.assertIsNone(scene.incident(node))
        subject = f"node/{node.node}"
        self.assertIsNone(scene.timeline.find(subject, "node_scheduling_changed", "", scene.mark))
        self.assertLess(scene.mark, healed["seq"])
        scene.measured("IB port down for a moment", "stays open", "goes on", None, None)

    @beside("unmounted")
    def test_a_mount_that_is_gone_drains(self, scene):
        job = scene.run()
        node = scene.where(job)
        node.hook(NO_REMEDY)
        scene.breaks(lambda: node.unmount(node.data))
        again = scene.runs_again(job)
        self.moved(scene, job, node, suspends=1)
        service = scene.after(self.in_service(scene, node))
        scene.measured("mount is gone", "in service after it", "moved with notice", again, service)
        opened = self.heals(scene, node, lambda: node.mount(node.data))
        scene.measured("… and back", "validated, open", "", None, opened)

    @beside("hung")
    def test_a_mount_that_hangs_drains_and_hangs_nobody_else(self, scene):
        job = scene.run()
        node = scene.where(job)
        node.hook(NO_REMEDY)
        with hanging_mount(node.data):
            scene.breaks(lambda: None)
            # Its agent goes on with all else.
            node.xid(13, "Graphics Exception")
            seen = scene.node_says(node, "node_check_changed", "Xid 13")
            again = scene.runs_again(job)
            self.moved(scene, job, node, suspends=1)
            service = scene.after(self.in_service(scene, node))
            fails = scene.node_says(node, "node_check_changed", f"mount {node.data} is fail")
            self.assertLess(seen["seq"], fails["seq"])
        scene.measured("mount hangs", "in service after it", "moved with notice", again, service)
        scene.breaks(lambda: None)
        opened = scene.opens(node)
        scene.measured("… and answers again", "validated, open", "", None, opened)

    @beside("hang", nodes=3)
    def test_ranks_that_hang_are_restarted_without_the_first_that_stopped(self, scene):
        program = scene.cluster.file("steps.py", STEPS)
        peers = scene.cluster.work / "hang.peers"
        peers.mkdir()
        peers.chmod(0o777)
        arguments = f"{scene.stop} {peers} {SDK}"
        spec = scene.cluster.spec(
            "hang-job", program, arguments, nodes=2, group="hang", options={"watchdog": "3s"}
        )
        job = scene.cluster.run(spec)
        scene.job_says(job, "attempt_running", after=0)
        first = scene.cluster.job(job)["nodes"]
        eventually("the second rank stops", (peers / "1.0.4").exists)
        scene.breaks(lambda: None)
        ending = scene.job_says(job, "attempt_ending")
        self.assertIn(f"rank 1 on {first[1]} stopped first", ending["text"])
        opened = scene.timeline.wait(None, "incident_opened", f"job {job} ", scene.mark)
        scene.timeline.wait(opened["subject"], "incident_closed", "", scene.mark)
        again = scene.runs_again(job)
        now = scene.cluster.job(job)
        self.assertEqual((now["attempt"], now["requeue_count"]), (2, 1))
        self.assertNotIn(first[1], now["nodes"])
        # By gdb, or by what the kernel says of each thread.
        evidence = scene.cluster.log(job, "-r", 1, "--attempt", 1)
        self.assertRegex(evidence, "nanosleep")
        scene.stop.touch()
        scene.cluster.wait_end(job)
        scene.measured(
            "rank hangs, watchdog 3 s",
            "open, counted against it",
            "stacks kept, restarted elsewhere",
            again,
            None,
        )


if __name__ == "__main__":
    unittest.main()
