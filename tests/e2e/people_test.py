"""People: tokens that end, sessions of the dashboard, munge, and what happens to open streams when
their caller is let in no more."""

import http.client
import json
import os
import shutil
import stat
import subprocess
import threading
import time
import unittest

from cluster import eventually
from http2_stranger import Stranger
from servers import Servers, ServersTest

WITHIN_SECONDS = 1.0
MEGABYTE = 1 << 20


class PeopleServers(Servers):
    more_config = ""  # lines of the server's config

    def server_config(self, server):
        return super().server_config(server) + self.more_config


class HttpStream:
    """One answer that goes on, read beside the test; `ended_at` is when it was over, `is_whole`
    whether it had the end that an answer has."""

    def __init__(self, server, path, token, accept="*/*"):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.http, timeout=120)
        head = {"Authorization": f"Bearer {token}", "Accept": accept}
        self.connection.request("GET", path, headers=head)
        self.answer = self.connection.getresponse()
        self.text, self.ended_at, self.is_whole = b"", None, False
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            while piece := self.answer.read1(65_536):
                self.text += piece
            self.is_whole = True
        except (OSError, ValueError, http.client.HTTPException):
            pass  # cut off in the middle
        self.ended_at = time.monotonic()


class PeopleTest(ServersTest):
    @classmethod
    def make(cls):
        return PeopleServers(count=1, nodes=1)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.cluster.servers[0]

    def make_token(self, *words):
        made = self.cluster.json("token", "create", *words)
        return made["id"], made["secret"]

    def config_with(self, secret):
        """A file of contexts in which `hai` finds this token."""
        path = self.cluster.root / f"config-{secret[-8:]}.json"
        context = {"name": "c", "servers": [f"127.0.0.1:{self.server.grpc}"], "token": secret}
        path.write_text(json.dumps({"current": "c", "contexts": [context]}))
        path.chmod(0o600)
        return {"HAI_CONFIG": path}

    def running_job(self, name):
        job = self.cluster.exec("echo begun; sleep 600", "--name", name)
        self.addCleanup(lambda: self.cluster.hai("stop", job))
        eventually("it writes", lambda: "begun" in self.cluster.hai("logs", job).out)
        return job

    def open_streams(self, job, secret):
        """All kinds, over both ports, each of which has begun."""
        over_http = {
            "events": HttpStream(self.server, "/api/v1/events", secret, "text/event-stream"),
            "log": HttpStream(self.server, f"/api/v1/jobs/{job}/logs?follow=true", secret),
        }
        env = self.config_with(secret)
        over_grpc = {
            "events": self.cluster.start_hai("events", "--watch", env=env),
            "log": self.cluster.start_hai("logs", "--follow", job, env=env),
        }
        for name, stream in over_http.items():
            self.assertEqual(stream.answer.status, 200, name)
        eventually("HTTP's log has begun", lambda: b"begun" in over_http["log"].text)
        for process in over_grpc.values():
            self.assertTrue(process.stdout.readline())
        return over_http, over_grpc

    def check_all_end(self, over_http, over_grpc, since):
        ends = {}
        for name, stream in over_http.items():
            eventually(f"{name} ends", lambda stream=stream: stream.ended_at, 10)
            ends["http " + name] = stream.ended_at - since
        self.assertFalse(over_http["log"].is_whole, "a log that was cut off looks like all of it")
        for name, process in over_grpc.items():
            process.wait(timeout=10)
            ends["grpc " + name] = time.monotonic() - since
            self.assertEqual(process.returncode, 4, process.stderr.read())
        print("", {name: f"{took:.2f} s" for name, took in ends.items()}, end=" ")
        return ends

    def test_a_revoked_token_ends_its_streams_within_a_second(self):
        job = self.running_job("revoked")
        ident, secret = self.make_token("--label", "to be revoked")
        streams = self.open_streams(job, secret)
        self.cluster.ok("token", "revoke", ident)
        began = time.monotonic()  # `hai` itself takes a moment, more on a busy machine
        ends = self.check_all_end(*streams, began)
        # `hai` itself takes a moment to revoke and to leave.
        self.assertLess(max(ends.values()), WITHIN_SECONDS + 1)
        self.assertLess(max(took for name, took in ends.items() if "http" in name), WITHIN_SECONDS)
        self.assertIn(b"event: end", streams[0]["events"].text)
        self.assertIn(b"was revoked", streams[0]["events"].text)
        self.assertNotEqual(self.cluster.hai("whoami", env=self.config_with(secret)).code, 0)

    def test_a_user_who_is_made_inactive_hears_no_more(self):
        job = self.running_job("inactive")
        self.cluster.ok("user", "set", "eve", "--role", "operator")
        _, secret = self.make_token("--user", "eve")
        streams = self.open_streams(job, secret)
        self.cluster.ok("user", "set", "eve", "--active", "no")
        began = time.monotonic()  # `hai` itself takes a moment, more on a busy machine
        ends = self.check_all_end(*streams, began)
        self.assertLess(max(took for name, took in ends.items() if "http" in name), WITHIN_SECONDS)

    def test_an_operator_who_is_made_a_user_hears_no_more_of_others(self):
        job = self.running_job("demoted")
        self.cluster.ok("user", "set", "ove", "--role", "operator")
        _, secret = self.make_token("--user", "ove")
        over_http, over_grpc = self.open_streams(job, secret)
        self.cluster.ok("user", "set", "ove", "--role", "user")
        began = time.monotonic()  # `hai` itself takes a moment, more on a busy machine
        # Events go on over gRPC, where each answer has what he may see at that moment.
        over_grpc.pop("events").terminate()
        ends = self.check_all_end(over_http, over_grpc, began)
        self.assertLess(max(took for name, took in ends.items() if "http" in name), WITHIN_SECONDS)
        again = self.server.get(f"/api/v1/jobs/{job}/logs?follow=true", headers={"Authorization": f"Bearer {secret}"})
        self.assertEqual(again[0], 403, again)

    def test_a_token_ends_by_the_clock_and_its_streams_with_it(self):
        job = self.running_job("ends")
        began = time.monotonic()
        _, secret = self.make_token("--ttl", "1m")
        streams = self.open_streams(job, secret)
        eventually("the events end", lambda: streams[0]["events"].ended_at, 90)
        ends = self.check_all_end(*streams, began)
        self.assertGreater(min(ends.values()), 59)
        self.assertLess(max(ends.values()), 64)
        refused = self.cluster.hai("whoami", env=self.config_with(secret))
        self.assertEqual(refused.code, 4)
        self.assertIn("the token ended at", refused.err)

    def test_what_a_token_is_for(self):
        _, reader = self.make_token("--scope", "read", "--ttl", "7d", "--label", "reader")
        env = self.config_with(reader)
        self.assertIn("node-1", self.cluster.ok("nodes", env=env))
        refused = self.cluster.hai("cordon", "node-1", "--reason", "no", env=env)
        self.assertEqual(refused.code, 4)
        self.assertIn("ControlNode needs a token of scope operate: this one's is read", refused.err)
        for words in (["--ttl", "1s"], ["--ttl", "11y"], ["--ttl", "soon"]):
            self.assertEqual(self.cluster.hai("token", "create", *words).code, 4, words)
        shown = self.cluster.ok("token", "list")
        for word in ("SCOPE", "ENDS", "LAST USED", "reader"):
            self.assertIn(word, shown)
        self.assertNotIn("never", shown)  # each ends, the first one too

    def test_one_user_follows_so_many_logs(self):
        job = self.running_job("followed")
        _, secret = self.make_token("--label", "follower")
        path = f"/api/v1/jobs/{job}/logs?follow=true"
        streams = [HttpStream(self.server, path, secret) for _ in range(64)]
        self.addCleanup(lambda: [stream.connection.close() for stream in streams])
        self.assertEqual({stream.answer.status for stream in streams}, {200})
        one_more = HttpStream(self.server, path, secret)
        self.assertEqual(one_more.answer.status, 429)
        other = HttpStream(self.server, "/api/v1/events", secret, "text/event-stream")
        self.assertEqual(other.answer.status, 200)
        other.connection.close()

    def test_a_page_has_a_session_and_no_token(self):
        _, secret = self.make_token("--label", "for the page")
        token = json.dumps({"token": secret})
        plain = {"Authorization": ""}
        status, headers, text = self.server.get("/api/v1/session", "POST", token, plain)
        self.assertEqual(status, 200, text)
        cookie = headers["Set-Cookie"].split(";")[0]
        for word in ("HttpOnly", "SameSite=Strict"):
            self.assertIn(word, headers["Set-Cookie"])
        csrf = json.loads(text)["csrf"]
        head = {**plain, "Cookie": cookie}
        self.assertEqual(self.server.get("/api/v1/whoami", headers=head)[0], 200)
        body = json.dumps({"role": "user"})
        refused = self.server.get("/api/v1/users/eva", "PUT", body, head)
        self.assertEqual(refused[0], 403, refused)
        head["X-Hai-Csrf"] = csrf
        self.assertEqual(self.server.get("/api/v1/users/eva", "PUT", body, head)[0], 200)
        again = self.server.get("/api/v1/session", "POST", None, {**plain, "Cookie": cookie})
        self.assertEqual(again[0], 200, again)
        self.assertEqual(json.loads(again[2])["csrf"], csrf)
        self.assertEqual(self.server.get("/api/v1/session", "DELETE", None, head)[0], 204)
        self.assertEqual(self.server.get("/api/v1/whoami", headers=head)[0], 401)

    def test_of_strangers_who_only_begin_to_sign_in_few_are_read(self):
        before = self.server.resident_bytes()
        strangers = [Stranger(self.server.grpc, "/hai.v1.Api/SignIn") for _ in range(40)]
        threads = [threading.Thread(target=stranger.send_all_but_the_end) for stranger in strangers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        held = self.server.resident_bytes() - before
        refused = sum(stranger.is_refused for stranger in strangers)
        print(f" {refused} refused, {held // MEGABYTE} MB held", end=" ")
        self.assertEqual(refused, 36)  # of one address four are read
        self.assertLess(held, 100 * MEGABYTE)
        for stranger in strangers:
            stranger.socket.close()


def start_munged(test, folder):
    """munged as a site has it, but private: a key and a socket of its own. Ends with the test class."""
    folder.mkdir(mode=0o755)
    key = folder / "key"
    key.write_bytes(os.urandom(64))
    key.chmod(0o600)
    socket = folder / "socket"
    files = [f"--{kind}-file={folder / kind}" for kind in ("key", "pid", "log", "seed")]
    munged = subprocess.Popen(
        ["munged", "--foreground", "--force", f"--socket={socket}", *files],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    test.addClassCleanup(munged.wait)
    test.addClassCleanup(munged.terminate)
    eventually("munged listens", socket.exists)
    return socket


class MungeTest(ServersTest):

    @classmethod
    def make(cls):
        return PeopleServers(count=1, nodes=1)

    @classmethod
    def prepare(cls):
        cls.socket = start_munged(cls, cls.cluster.root / "munge")
        cls.cluster.more_config = f'munge: "{cls.socket}"\n'
        cls.server = cls.cluster.servers[0]
        cls.env = {
            "HAI_CONFIG": cls.cluster.root / "munge.json",
            "XDG_CACHE_HOME": cls.cluster.root / "cache",
            "PATH": os.environ["PATH"] + ":/usr/bin",
        }

    def sign_in(self, credential):
        body = json.dumps({"munge": credential})
        return self.server.get("/api/v1/session", "POST", body, {"Authorization": ""})

    def credential(self, payload="hai sign-in"):
        words = ["munge", f"--socket={self.socket}", "--string", payload]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()

    @unittest.skipUnless(os.geteuid() == 0, "the first user is root, and who runs this is not")
    def test_no_token_at_all(self):
        url = f"grpc://127.0.0.1:{self.server.grpc}"
        self.cluster.ok("init", "--munge", "--munge-socket", self.socket, "--url", url, env=self.env)
        self.assertIn("root (admin)", self.cluster.ok("whoami", env=self.env))
        kept = self.cluster.root / "cache/hai/sessions/servers.json"
        self.assertEqual(stat.S_IMODE(kept.stat().st_mode), 0o600)
        session = kept.read_text()
        self.cluster.ok("whoami", env=self.env)
        self.assertEqual(kept.read_text(), session, "kept until it ends")
        self.assertNotIn("hai_", (self.cluster.root / "munge.json").read_text())
        tokens = json.loads(self.cluster.ok("token", "list", "-o", "json", env=self.env))
        for token in tokens:
            if token["session"]:
                self.cluster.ok("token", "revoke", token["id"])
        self.assertEqual(self.cluster.hai("whoami", env=self.env).code, 4)
        self.assertIn("root (admin)", self.cluster.ok("whoami", env=self.env), "signed in anew")

    @unittest.skipUnless(os.geteuid() == 0, "the first user is root, and who runs this is not")
    def test_a_credential_holds_once_and_for_hai(self):
        credential = self.credential()
        status, headers, text = self.sign_in(credential)
        self.assertEqual(status, 200, text)
        self.assertIn("hai_session=", headers["Set-Cookie"])
        status, _, text = self.sign_in(credential)
        self.assertEqual(status, 401)
        self.assertIn("Replayed", text)
        status, _, text = self.sign_in(self.credential("slurm"))
        self.assertEqual(status, 401)
        self.assertIn("not made for hai", text)
        self.assertEqual(self.sign_in("MUNGE:nonsense:")[0], 401)

    def test_who_is_no_user_here_is_not_let_in(self):
        if os.geteuid() == 0:
            words = ["munge", f"--socket={self.socket}", "--string", "hai sign-in"]
            credential = subprocess.run(words, user="nobody", capture_output=True, text=True, check=True)
            status, _, text = self.sign_in(credential.stdout.strip())
        else:
            status, _, text = self.sign_in(self.credential())
        self.assertEqual(status, 403, text)
        self.assertIn("is no user here", text)


if __name__ == "__main__":
    unittest.main()
