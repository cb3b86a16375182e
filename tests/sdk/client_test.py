"""The client of REST: which cluster it talks to, what it does when a server is away, and what it
never does twice. Against servers of this test; tests/e2e/sdk_client_test.py has real ones."""

import asyncio
import http.server
import json
import os
import re
import sys
import tempfile
import threading
import unittest
from unittest import mock

import paths

import hai
import hai.client as client
import hfai.client
from hai import _context, _rest


class Server(http.server.ThreadingHTTPServer):
    """Answers by a list of (status, body, headers), the last one for ever; keeps what it was
    asked. A body of bytes is sent as it is, another one as JSON."""

    daemon_threads = True

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

        class Handler(http.server.BaseHTTPRequestHandler):
            def handle_any(handler):
                length = int(handler.headers.get("Content-Length", 0))
                body = handler.rfile.read(length).decode()
                self.asked.append((handler.command, handler.path, body, dict(handler.headers)))
                status, answer, headers = (
                    self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                )
                if status == 0:  # it dies over the request
                    handler.connection.close()
                    return
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                handler.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(data))}.items():
                    handler.send_header(name, value)
                handler.end_headers()
                handler.wfile.write(data)

            do_GET = do_POST = handle_any

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


OK = (200, {"user": "ann"}, {})


class Calls(unittest.TestCase):
    def setUp(self):
        for name, value in (("PAUSE_SECONDS", 0.01), ("PATIENCE_SECONDS", 2.0)):
            patch = mock.patch.object(_rest, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def server(self, *answers):
        server = Server(*answers)
        self.addCleanup(server.close)
        return server

    def rest(self, *servers):
        urls = [getattr(server, "url", server) for server in servers]
        return _rest.Rest(_context.Context(urls, "secret"))

    def test_the_token_goes_along(self):
        server = self.server(OK)
        self.assertEqual(self.rest(server).get("/whoami"), {"user": "ann"})
        method, path, _, headers = server.asked[0]
        self.assertEqual((method, path), ("GET", "/api/v1/whoami"))
        self.assertEqual(headers["Authorization"], "Bearer secret")

    def test_the_one_that_leads_is_asked(self):
        leader = self.server(OK)
        standby = self.server((307, {}, {"Location": leader.url + "/api/v1/whoami"}))
        self.assertEqual(self.rest(standby).get("/whoami")["user"], "ann")

    def test_a_redirection_never_leaves_tls(self):
        standby = self.server((307, {}, {"Location": "https://127.0.0.1:1/api/v1/whoami"}))
        with self.assertRaisesRegex(hai.Refused, "not as safe"):
            self.rest(standby).get("/whoami")

    def test_one_that_is_away_is_passed_over_and_a_failover_waited_for(self):
        waking = self.server((503, {"detail": "nobody leads"}, {}), OK)
        self.assertEqual(self.rest("http://127.0.0.1:1", waking).get("/whoami")["user"], "ann")
        with self.assertRaisesRegex(hai.Unreachable, "does not answer"):
            self.rest("http://127.0.0.1:1").get("/whoami")

    def test_a_submission_that_is_tried_again_says_so(self):
        server = self.server((0, None, {}), (201, {"id": 7}, {}))
        self.assertEqual(self.rest(server).submit("/jobs", "version: 2"), {"id": 7})
        keys = [headers["Idempotency-Key"] for _, _, _, headers in server.asked]
        self.assertEqual(len(keys), 2)
        self.assertEqual(keys[0], keys[1])

    def test_other_acts_are_never_done_twice(self):
        server = self.server((0, None, {}))
        with self.assertRaisesRegex(hai.Error, "look whether it was done"):
            self.rest(server).post("/jobs/7/requeue", {})
        self.assertEqual(len(server.asked), 1)

    def test_refusals_name_what_is_wrong(self):
        problem = {"detail": "not valid", "errors": [{"path": "name", "message": "is missing"}]}
        with self.assertRaisesRegex(hai.Refused, "not valid; name: is missing"):
            self.rest(self.server((400, problem, {}))).submit("/jobs", "{}")
        with self.assertRaisesRegex(client.NotFound, "no job 9"):
            self.rest(self.server((404, {"detail": "no job 9"}, {}))).get("/jobs/9")


class Contexts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(("HAI_", "MARSV2_", "XDG_"))
        }
        patch = mock.patch.dict(
            os.environ, {**kept, "HAI_CONFIG": self.path("config.json")}, clear=True
        )
        patch.start()
        self.addCleanup(patch.stop)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, *contexts, current="one"):
        with open(self.path("config.json"), "w") as file:
            json.dump({"current": current, "contexts": list(contexts)}, file)

    def test_the_current_one_or_that_of_the_environment(self):
        self.write(
            {"name": "one", "servers": ["a:7700", "b:7700"], "token": "t1"},
            {"name": "two", "servers": ["c:7700"], "token": "t2", "ca": "system"},
        )
        one = _context.current()
        self.assertEqual((one.servers, one.token), (["http://a:7780", "http://b:7780"], "t1"))
        with mock.patch.dict(os.environ, HAI_CONTEXT="two", HAI_HTTP_PORT="8443"):
            two = _context.current()
        self.assertEqual((two.servers, two.token), (["https://c:8443"], "t2"))

    def test_a_dev_cluster_knows_its_port(self):
        with open(self.path("cluster.json"), "w") as file:
            json.dump({"http_port": 1234}, file)
        self.write(
            {"name": "one", "servers": ["127.0.0.1:1"], "token": "t", "dev_data": self.folder}
        )
        self.assertEqual(_context.current().servers, ["http://127.0.0.1:1234"])

    def test_hais_names_in_the_environment(self):
        with mock.patch.dict(os.environ, MARSV2_SERVER="x:1,http://y:2/", MARSV2_USER_TOKEN="t"):
            context = _context.current()
        self.assertEqual((context.servers, context.token), (["https://x:1", "http://y:2"], "t"))

    def test_what_is_missing_is_said(self):
        for contexts, text in (
            (None, "hai init"),
            ([], "no context 'one'"),
            ([{"name": "one", "servers": [], "munge": "system"}], "munge"),
        ):
            if contexts is not None:
                self.write(*contexts)
            with self.assertRaisesRegex(hai.Error, text):
                _context.current()
        with mock.patch.dict(os.environ, HAI_URL="x:1"):
            with self.assertRaisesRegex(hai.Error, "HAI_TOKEN is not"):
                _context.current()


class Names(unittest.TestCase):
    def test_every_call_of_haIs_client_is_there_or_says_what_to_do(self):

        for name in (
            "set_watchdog_time set_whole_life_state get_whole_life_state receive_suspend_command "
            "go_suspend EXP_PRIORITY set_priority WARN_TYPE disable_warn Experiment get_experiment "
            "get_experiments create_experiment get_user_info get_cluster_overview"
        ).split():
            self.assertTrue(hasattr(hfai.client, name), name)
        for name in (
            "get_worker_user_info set_user_gpu_quota get_tasks_overview get_user_personal_storage "
            "get_task_ssh_ip create_node_port_svc delete_node_port_svc get_node_port_svc_list "
            "set_swap_memory get_task_container_log create_haiprof_task rerun_task validate_task "
            "validate_experiment validate_nodes switch_schedule_zone"
        ).split():
            with self.assertRaisesRegex(client.Unsupported, f"{name} is not supported: "):
                getattr(hfai.client, name)
        with self.assertRaises(AttributeError):
            hfai.client.no_such_name

    def test_calls_are_coroutines(self):
        for name in ("create_experiment", "get_experiment", "get_experiments"):
            self.assertTrue(asyncio.iscoroutinefunction(getattr(client, name)), name)

    def test_readme_has_every_call(self):
        with open(os.path.join(paths.SDK, "README.md")) as file:
            text = file.read()
        methods = [
            f"Experiment.{name}"
            for name, each in vars(client.Experiment).items()
            if asyncio.iscoroutinefunction(each)
        ]
        names = (
            methods + [name for name in client.__all__ if name[0].islower()] + list(client._INSTEAD)
        )
        missing = [name for name in names if f"`{name}" not in text]
        self.assertEqual(missing, [])

    def test_every_call_of_the_readme_is_there_or_says_what_to_use(self):
        with open(os.path.join(paths.SDK, "README.md")) as file:
            table = file.read().split("| call of HAI's client | here |\n")[1].split("\n\n")[0]
        calls = re.findall(r"`((?:Experiment\.)?[a-z]\w+)(?:\([^`]*\))?`", table)
        self.assertGreater(len(calls), 45)
        for call in calls:
            if call in ("training", "succeed", "fail", "last_seen", "star", "chain_id"):
                continue  # words of the explanations
            if call.startswith("Experiment."):
                self.assertTrue(callable(getattr(client.Experiment, call[11:])), call)
                continue
            try:
                self.assertTrue(callable(getattr(hfai.client, call)), call)
            except client.Unsupported as error:
                self.assertRegex(str(error), f"^{call} is not supported: .{{10,}}")

    def test_hais_second_name_of_a_submission(self):
        self.assertIs(hfai.client.create_experiment_v2, client.create_experiment)


if __name__ == "__main__":
    unittest.main()
