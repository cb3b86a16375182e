"""What a fault of a node's GPUs, kernel or disks does to the node and to what runs there: real server,
agents and jobs; the hardware is files (hardware.py)."""

import unittest

from cluster import eventually
from scenes import WORKER, Stage, beside

RESET = ["reset_gpus"]
# Its first attempt fails when told to.
FAILS = (
    """
if [ "$HAI_ATTEMPT" = 1 ]; then
  while [ ! -e "$2" ]; do sleep 0.1; done
  exit 3
fi
"""
    + WORKER
)


class HealthTest(Stage):
    @beside("xid79")
    def test_a_gpu_off_the_bus_ends_its_job_there(self, scene):
        job = scene.run()
        node = scene.where(job)
        scene.breaks(lambda: node.xid(79, "GPU has fallen off the bus."))
        again, opened = scene.runs_again(job), scene.opens(node)
        self.moved(scene, job, node, requeues=1)
        self.assertIn("Xid 79", scene.job_says(job, "job_requeued")["text"])
        self.mended(scene, node, RESET)
        scene.measured("Xid 79", "drained, GPUs reset", "ended, requeued", again, opened)

    @beside("xid95")
    def test_an_uncontained_error_ends_the_job_of_its_gpu_and_moves_the_other(self, scene):
        share = {"gpus": 1, "script": 'echo "on $CUDA_VISIBLE_DEVICES"' + WORKER}
        jobs = [scene.run("one", **share), scene.run("two", **share)]
        node = scene.where(jobs[0])
        self.assertIs(scene.where(jobs[1]), node)
        [hit] = [job for job in jobs if "on 1" in scene.cluster.log(job)]
        [other] = [job for job in jobs if job != hit]
        scene.breaks(lambda: node.xid(95, "uncontained ECC error", gpu=1))
        again, moved = scene.runs_again(hit), scene.runs_again(other)
        opened = scene.opens(node)
        self.moved(scene, hit, node, requeues=1)
        self.moved(scene, other, node, suspends=1)
        self.mended(scene, node, RESET)
        scene.measured("Xid 95", "drained, GPUs reset", "ended, requeued", again, opened)
        scene.measured("… of another GPU of the node", "", "moved with notice", moved, None)

    @beside("xid63")
    def test_a_pending_row_remapping_waits_for_the_job_to_save(self, scene):
        job = scene.run()
        node = scene.where(job)
        node.hook(f"cp {node.healthy_gpus} {node.gpu_state}")

        def breaks():
            node.gpu("gpu 0 remapped_pending 1")
            node.xid(63, "Row Remapper: New row marked for remapping")

        scene.breaks(breaks)
        again, opened = scene.runs_again(job), scene.opens(node)
        self.moved(scene, job, node, suspends=1)
        self.mended(scene, node, RESET)
        scene.measured("Xid 63", "drained, GPUs reset", "moved with notice", again, opened)

    @beside("xid94")
    def test_a_contained_error_moves_the_job(self, scene):
        job = scene.run()
        node = scene.where(job)
        scene.breaks(lambda: node.xid(94, "Contained memory error"))
        again, opened = scene.runs_again(job), scene.opens(node)
        self.moved(scene, job, node, suspends=1)
        self.mended(scene, node, RESET)
        scene.measured("Xid 94", "drained, GPUs reset", "moved with notice", again, opened)

    @beside("restart", nodes=1, hooks=False)
    def test_a_restart_of_its_agent_mends_nothing(self, scene):
        [node] = scene.hardware

        def links():
            checks = {(each["name"], each["subject"]): each for each in scene.node(node)["checks"]}
            return checks.get(("gpu_nvlink", "gpu 0"), {})

        node.gpu("gpu * nvlinks 4")
        eventually("its links were seen", lambda: links().get("text") == "4 of 4 NVLinks active")
        scene.breaks(lambda: node.gpu("gpu * nvlinks 4", "gpu 0 nvlink_2_state 0"))
        scene.node_says(node, "node_repair_changed", "repair: service")
        before, mark = links(), scene.timeline.last()
        self.assertEqual([before[key] for key in ("state", "tier", "done")], ["fail", "drain", "drain"])
        scene.cluster.kill(f"agent:{node.node}")
        scene.cluster.start(f"agent:{node.node}")
        node.xid(13, "Graphics Exception")
        scene.node_says(node, "node_check_changed", "Xid 13", after=mark)  # so it has looked
        self.assertEqual(links(), before)
        subject = f"node/{node.node}"
        self.assertIsNone(scene.timeline.find(subject, "node_scheduling_changed", "", mark))
        self.assertIsNone(scene.timeline.find(subject, "node_repair_changed", "", mark))

    @beside("xid74")
    def test_one_nvlink_error_is_worth_a_validation(self, scene):
        job = scene.run()
        node = scene.where(job)
        scene.breaks(lambda: node.xid(74, "NVLink: fatal error detected on link 0"))
        cordoned = scene.node_says(node, "node_scheduling_changed", "cordoned")
        self.assertIn("Xid 74", cordoned["text"])
        scene.stop.touch()
        scene.cluster.wait_end(job)
        ended = scene.job_says(job, "job_finished")
        opened = scene.opens(node) - scene.after(ended)
        self.assertEqual(scene.cluster.job(job)["attempt"], 1)
        self.mended(scene, node, [])
        self.assertEqual(scene.node(node)["lemon_score"], 1)
        scene.measured("Xid 74", "cordoned, validated when empty", "goes on", None, opened)

    @beside("readings")
    def test_what_the_gpus_show_is_seen(self, scene):
        node = scene.hardware[0]
        node.gpu("gpu 1 temperature 67", "gpu 1 utilization 93")

        def shown():
            told = scene.node(node)
            return [told.get(f"gpu_{what}", [])[1:2] for what in ("utilization", "temperature")] == [[93], [67]]

        eventually("it is shown", shown, 60)
        self.assertIn("93 % 67 °C", scene.cluster.ok("nodes", node.node))

    @beside("xid74b")
    def test_a_second_nvlink_error_drains(self, scene):
        job = scene.run()
        node = scene.where(job)
        scene.breaks(lambda: node.xid(74, "NVLink: fatal error detected on link 0"))
        scene.node_says(node, "node_scheduling_changed", "cordoned")

        def again():
            """What comes within 5 s of another is the same error."""
            node.xid(74, "NVLink: fatal error detected on link 0")
            return scene.timeline.find(
                f"node/{node.node}", "node_scheduling_changed", "drain", scene.mark
            )

        drained = eventually("it is drained", again)
        self.assertIn("2 times (limit 2 in 7d)", drained["text"])
        scene.began = drained["time"]
        again, opened = scene.runs_again(job), scene.opens(node)
        self.moved(scene, job, node, suspends=1)
        self.mended(scene, node, RESET)
        scene.measured("Xid 74, again", "drained, GPUs reset", "moved with notice", again, opened)

    @beside("lockup")
    def test_a_node_that_needs_it_is_started_anew(self, scene):
        job = scene.run()
        node = scene.where(job)
        down = node.folder / "goes_down"
        node.hook(f"touch {down}; while [ -e {down} ]; do sleep 0.1; done")
        scene.breaks(lambda: node.says("Watchdog detected hard LOCKUP on cpu 5"))
        again = scene.runs_again(job)
        eventually("its site starts it anew", down.exists, seconds=60)
        scene.cluster.kill(f"node:{node.node}")
        node.boot()
        scene.cluster.start(f"agent:{node.node}")
        down.unlink()
        opened = scene.opens(node)
        self.moved(scene, job, node, suspends=1)
        self.mended(scene, node, ["reboot"])
        scene.measured("hard lockup", "drained, restarted", "moved with notice", again, opened)

    @beside("disk", hooks=False)
    def test_without_a_hook_a_dying_disk_waits_for_a_person(self, scene):
        job = scene.run()
        node = scene.where(job)
        line = "critical medium error, dev nvme0n1, sector 81234 op 0x0:(READ) flags 0x0"
        scene.breaks(lambda: node.says(line))
        again = scene.runs_again(job)
        service = scene.node_says(node, "node_repair_changed", "repair: service")
        self.moved(scene, job, node, suspends=1)
        now = scene.node(node)
        self.assertEqual((now["scheduling"], now["reason_by"]), ("drained", "health"))
        self.assertIn("has no repair.reboot", now["repair"]["reason"])
        scene.measured(
            "dying disk, no hook",
            "in service after it",
            "moved with notice",
            again,
            scene.after(service),
        )
        scene.cluster.ok("undrain", node.node)
        self.assertEqual(scene.node(node)["scheduling"], "open")
        self.assertIsNone(scene.incident(node))
        # What a person has accepted is forgotten, until it happens again.
        scene.node_says(node, "node_check_changed", "disk_error nvme0n1 is ok")
        mark = scene.timeline.last()
        node.says(line)
        drained = scene.node_says(node, "node_scheduling_changed", "drained", after=mark)
        self.assertIn("nvme0n1", drained["text"])

    @beside("program", nodes=1)
    def test_a_program_that_fails_by_itself_has_failed(self, scene):
        job = scene.run(script=FAILS, arguments=scene.told)
        scene.breaks(scene.told.touch)
        now = scene.cluster.wait_end(job, "failed")
        self.assertEqual((now["exit_code"], now["attempt"]), (3, 1))
        self.assertIn("exited with code 3", now["end_reason"])
        self.assertEqual(scene.node(scene.hardware[0])["scheduling"], "open")
        failed = scene.after(scene.job_says(job, "job_finished"))
        scene.measured(
            "exit code 3, node well", "stays open", f"failed after {failed:.1f} s", None, None
        )

    @beside("doubt")
    def test_a_program_that_fails_on_a_doubtful_node_runs_elsewhere(self, scene):
        job = scene.run(script=FAILS, arguments=scene.told)
        node = scene.where(job)
        node.xid(74, "NVLink: fatal error detected on link 0")
        scene.timeline.wait(f"node/{node.node}", "node_scheduling_changed", "cordoned")
        scene.breaks(scene.told.touch)
        again = scene.runs_again(job)
        self.moved(scene, job, node, requeues=1)
        reason = scene.job_says(job, "job_requeued")["text"]
        self.assertIn("exited with code 3", reason)
        self.assertIn("Xid 74", reason)
        scene.measured("exit code 3 after Xid 74", "validated", "requeued", again, None)

    @beside("late")
    def test_a_fault_that_is_seen_after_the_failure_explains_it(self, scene):
        job = scene.run(script=FAILS, arguments=scene.told)
        node = scene.where(job)
        scene.told.touch()
        scene.cluster.wait_end(job, "failed")
        scene.breaks(lambda: node.xid(79, "GPU has fallen off the bus."))
        again, opened = scene.runs_again(job), scene.opens(node)
        self.assertIn("Xid 79", scene.job_says(job, "job_reopened")["text"])
        self.moved(scene, job, node, requeues=1)
        scene.measured(
            "Xid 79 just after exit code 3",
            "drained, GPUs reset",
            "failed, then requeued",
            again,
            opened,
        )


if __name__ == "__main__":
    unittest.main()
