"""The SDK's client on a real cluster: experiments are created, found, followed and ended over REST,
with TLS and the context that `hai` itself uses."""

import asyncio
import io
import os
import re
import sys
import unittest
from unittest import mock

from cluster import SDK, ClusterTest, eventually, programs, said

sys.path.insert(0, str(SDK))

import hfai.client as client  # noqa: E402
from hai import Error, Refused  # noqa: E402

SCRIPT = """#!/bin/sh
echo "hello from rank $HAI_NODE_RANK of $1"
[ "$1" = long ] && exec sleep 600
exit ${2:-0}
"""


def run(coroutine):
    return asyncio.run(coroutine)


class SdkClientTest(ClusterTest):
    shape = {"name": "sdk", "nodes": 2, "gpus": 4}

    def setUp(self):
        self.cluster.file("job.sh", SCRIPT)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("HAI_", "MARSV2_"))}
        kept["HAI_BIN"] = str(programs())
        kept["HAI_CONFIG"] = self.cluster.environment()["HAI_CONFIG"]
        patch = mock.patch.dict(os.environ, kept, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def config(self, name, parameters="", nodes=1, **options):
        return self.cluster.spec(
            name, "job.sh", parameters, nodes=nodes, gpus=2, options={"tags": ["sdk"], **options}
        )

    def test_an_experiment_from_its_creation_to_its_end(self):
        notice = {"grace": "1s", "signal": "SIGUSR1"}
        made = run(client.create_experiment(self.config("whole", "long", nodes=2, suspend=notice)))
        self.assertEqual((made.nb_name, made.nodes, made.queue_status), ("whole", 2, "queued"))
        job = made.id
        self.cluster.wait_running(job)
        found = run(client.get_experiment(id=job))
        self.assertEqual((found.chain_status, found.worker_status), ("running", "running"))
        self.assertEqual([pod.rank for pod in found.pods], [0, 1])
        self.assertEqual(sorted(found.assigned_nodes), ["node-1", "node-2"])
        self.assertEqual(found.chain_id, str(job))
        self.assertEqual(run(client.get_experiment(name="whole")).id, job)
        self.assertEqual(run(client.get_experiment(chain_id=found.chain_id)).id, job)

        answer = eventually(
            "rank 1 speaks",
            lambda: (lambda a: a if a["data"] else None)(run(found.log_ng(rank=1))),
        )
        self.assertIn("hello from rank 1 of long\n", answer["data"])
        self.assertEqual(run(found.log(rank=1, last_seen=answer["last_seen"])), "")
        eventually(
            "both ranks are found", lambda: run(found.search_in_global("hello from")) == [1, 1]
        )
        self.assertIn("submitted", run(found.sys_log()))
        points = run(found.get_latest_point())
        self.assertEqual([point["rank"] for point in points], [0, 1])

        self.assertTrue(run(found.set_priority(client.EXP_PRIORITY.ABOVE_NORMAL)))
        self.assertEqual(run(found.refresh()).priority, 20)
        self.assertTrue(run(found.suspend()))
        self.cluster.wait_running(job, attempt=2)
        self.assertEqual(run(found.refresh()).suspend_count, 1)
        self.assertEqual(len(found.begin_at_list), 2)
        self.assertTrue(run(found.stop()))
        self.cluster.wait_end(job, "stopped")
        self.assertEqual(run(found.refresh()).queue_status, "finished")
        self.assertEqual(found.stop_code, client.STOP_CODE.MANUAL_STOP)

    def test_results_and_running_again(self):
        failed = run(client.create_experiment(self.config("fails", "short 3")))
        self.cluster.wait_end(failed.id, "failed")
        log, exit_code, stop_code = run(failed.log(with_code=True))
        self.assertIn("hello from rank 0 of short", log)
        self.assertEqual((exit_code, stop_code), (3, client.STOP_CODE.FAILED))
        self.assertEqual(run(failed.search_in_global("HELLO")), [0], "upper case is another text")
        again = run(failed.rerun())
        self.assertNotEqual(again.id, failed.id)
        self.assertEqual(again.nb_name, "fails")
        self.assertIn(f"as job {failed.id} was", run(again.sys_log()))
        self.cluster.wait_end(again.id, "failed")

    def test_the_variables_that_the_readme_promises(self):
        rows = re.findall(r"^\| (`.*`) \| the same", (SDK / "README.md").read_text(), re.M)
        promised = set(re.findall(r"`(\w+)`", " ".join(rows)))
        self.assertGreater(len(promised), 20)
        self.cluster.file("env.sh", "#!/bin/sh\nenv\n")
        config = self.cluster.spec("env", "env.sh", gpus=1, options={"watchdog": "60s"})
        job = run(client.create_experiment(config))
        self.cluster.wait_end(job.id)
        found = {line.partition("=")[0] for line in said(run(job.log())).splitlines()}
        self.assertEqual(promised - found, set())

    def test_a_list_with_its_pages_and_filters(self):
        text = """version: 2
name: {}
spec: {{workspace: {}, entrypoint: job.sh}}
resource: {{node_count: 1, gpus_per_node: 1}}
options: {{tags: [listed]}}
"""
        for number in range(3):
            content = text.format(f"page-{number}", self.cluster.work)
            config = [content, io.StringIO(content), str(self.cluster.file("job.yaml", content))]
            made = run(client.create_experiment(config[number]))
            self.cluster.wait_end(made.id)
        total, first = run(client.get_experiments(page=1, page_size=2, tag_list=["listed"]))
        self.assertEqual((total, [each.nb_name for each in first]), (3, ["page-2", "page-1"]))
        total, second = run(client.get_experiments(page=2, page_size=2, tag_list=["listed"]))
        self.assertEqual((total, [each.nb_name for each in second]), (3, ["page-0"]))
        self.assertEqual(len(second[0].pods), 1)
        found = run(client.get_experiments(1, 10, nb_name_pattern="page-1"))[1]
        self.assertEqual([each.worker_status for each in found], ["succeeded"])
        self.assertEqual(
            run(client.get_experiments(1, 10, tag_list=["listed"], worker_status_list=["failed"])),
            (0, []),
        )

    def test_refusals_say_why(self):
        with self.assertRaisesRegex(Refused, "resource.node_count"):
            run(client.create_experiment(self.config("bad", nodes=-1)))
        with self.assertRaisesRegex(client.NotFound, "no-such-job"):
            run(client.get_experiment(name="no-such-job"))
        job = run(client.create_experiment(self.config("plain", "long")))
        for call, text in (
            (lambda: run(job.stop(op="succeed")), "op=succeed"),
            (lambda: run(job.suspend(restart_delay=60)), "hai resume"),
            (lambda: run(job.rerun()), "only one that has ended"),
            (lambda: client.create_node_port_svc, "hai forward"),
        ):
            with self.assertRaisesRegex(Refused, text):
                call()
        run(job.stop())
        self.cluster.wait_end(job.id, "stopped")
        with self.assertRaisesRegex(Refused, "has stopped"):
            run(job.tag_task("late"))

    def test_tags_and_the_star(self):
        job = run(client.create_experiment(self.config("starred", "long")))
        self.assertTrue(run(job.tag_task("star")))
        self.assertEqual((sorted(job.tags), job.star), (["sdk", "star"], True))
        total, found = run(client.get_experiments(1, 10, only_star=True))
        self.assertEqual((total, [each.id for each in found]), (1, [job.id]))
        self.assertTrue(run(job.untag_task("star")))
        self.assertEqual(run(client.get_experiments(1, 10, only_star=True)), (0, []))
        self.assertEqual(self.cluster.job(job.id)["tags"], ["sdk"])
        run(job.stop())
        self.cluster.wait_end(job.id, "stopped")

    def test_whom_it_talks_to(self):
        status = self.cluster.status()
        self.assertEqual(
            run(client.get_user_info())["user_name"], self.cluster.json("whoami")["user"]
        )
        token = self.cluster.ok("token", "create", "--label", "sdk").strip()
        with mock.patch.dict(os.environ, HAI_URL=status["http"], HAI_TOKEN=token):
            with self.assertRaisesRegex(Error, "certificate is not believed"):
                run(client.get_user_info())
            os.environ["HAI_CA"] = str(self.cluster.ca_file)
            self.assertIn("user_name", run(client.get_user_info()))
            os.environ["HAI_TOKEN"] = "wrong"
            with self.assertRaises(Refused):
                run(client.get_user_info())
        with mock.patch.dict(os.environ, HAI_CONTEXT="nowhere"):
            with self.assertRaisesRegex(Error, "no context 'nowhere'"):
                run(client.get_user_info())


if __name__ == "__main__":
    unittest.main()
