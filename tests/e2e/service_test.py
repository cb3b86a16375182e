"""Services of jobs: what a job's programs serve over HTTP, reached through the server's port for it by
their owner, and by nobody else."""

import base64
import hashlib
import http.client
import json
import os
import socket
import ssl
import subprocess
import sys
import time
import unittest

from cluster import ClusterTest, eventually

# What the job serves. It says what it was asked, and in which connection.
PROGRAM = '''\
import base64, hashlib, http.server, json, os, socket, socketserver, struct, sys, time

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together

    def log_message(self, *words):
        pass

    def answer(self, body, status=200, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        whole = b""
        while True:
            size = int(self.rfile.readline(), 16)
            piece = self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                return whole
            whole += piece

    def do_GET(self):
        path = self.path.rsplit("/", 1)[-1] if "sub" not in self.path else self.path
        if path == "cookies":
            return self.answer(b"", headers=[
                ("Set-Cookie", "mine=1; Path=/; HttpOnly"), ("Set-Cookie", "hai_session=bad; Path=/"),
                ("Set-Cookie", "wide=2; Domain=example; Path=/x"), ("Clear-Site-Data", '"cookies"'),
                # Too long once mended: Beast threw, and the server ended.
                ("Set-Cookie", "long=1" + ";x" * 30_000), ("Service-Worker-Allowed", "/")])
        if path == "elsewhere":
            return self.answer(b"", 302, [("Location", "/there?x=1")])
        if path == "slowly":
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            self.close_connection = True
            for number in range(3):
                self.wfile.write(f"data: {number}\\n\\n".encode())
                self.wfile.flush()
                if number < 2:
                    while not os.path.exists(f"go{number}"):
                        time.sleep(0.01)
            return
        if path == "switch":
            self.send_response(101)
            self.end_headers()
            return
        if path == "reset":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"data: 0\\n")
            self.wfile.flush()
            while not os.path.exists("gone"):
                time.sleep(0.01)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return
        if path == "much":
            return self.answer(b"0123456789abcdef" * 1_000_000)
        if path == "close":
            self.close_connection = True
            return
        if path == "socket":
            key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            self.send_header("Sec-WebSocket-Accept",
                             base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
            self.end_headers()
            self.wfile.flush()
            self.close_connection = True
            while True:
                line = self.rfile.readline()
                if not line:
                    return
                self.wfile.write(b"heard " + line)
                self.wfile.flush()
        said = {"path": self.path, "headers": dict(self.headers), "client": self.client_address[1]}
        self.answer(json.dumps(said).encode())

    do_HEAD = do_GET

    def do_POST(self):
        if self.path.endswith("/early"):
            self.close_connection = True
            return self.answer(b"too much", 413)
        got = self.body()
        said = {"bytes": len(got), "sha": hashlib.sha256(got).hexdigest()}
        self.answer(json.dumps(said).encode())

class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def shutdown_request(self, request):
        self.close_request(request)  # without a farewell, where a connection is to be reset

# Any port that is free, at first; a job that begins anew has the one that its file names.
Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
'''


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class ServiceTest(ClusterTest):
    shape = {"name": "service", "nodes": 2}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.file("serve.py", PROGRAM)
        cls.host, port = cls.cluster.json("whoami")["services_url"].split("://")[1].rsplit(":", 1)
        cls.port = int(port)
        cls.token = cls.secret()

    @classmethod
    def secret(cls, user=None):
        words = ["token", "create", "--label", "web"] + (["--user", user] if user else [])
        return cls.cluster.ok(*words).strip()

    def ask(self, path, method="GET", body=None, headers=None, token="own", connection=None):
        """The answer, its headers and its body."""
        head = dict(headers or {})
        token = self.token if token == "own" else token
        if token:
            head.setdefault("Authorization", f"Bearer {token}")
        own = connection or self.connect()
        own.request(method, path, body, head, encode_chunked=hasattr(body, "__next__"))
        answer = own.getresponse()
        text = answer.read()
        if connection is None:
            own.close()
        return answer.status, answer.headers, text

    def connect(self):
        return http.client.HTTPSConnection(
            self.host, self.port, timeout=30, context=self.cluster.browser()
        )

    def serve(self, name, *services, nodes=1):
        """A job whose first service is a program of this file; its id."""
        port = free_port()
        # The nodes are one machine: the last rank alone has the port.
        script = f"if [ $HAI_NODE_RANK = {nodes - 1} ]; then exec /usr/bin/python3 serve.py {port}; fi; exec sleep 600"
        spec = self.cluster.spec(name, "/bin/sh", f"-c '{script}'", nodes=nodes)
        spec["services"] = [text.format(port=port) for text in services or ("web:{port}",)]
        job = self.cluster.run(spec)
        self.cluster.wait_running(job)
        where = f"/jobs/{job}/{spec['services'][0].split(':')[0]}/"
        eventually("it serves", lambda: self.ask(where)[0] == 200)
        self.addCleanup(self.cluster.hai, "stop", job)
        return job, port

    def get(self, path, **options):
        status, _, text = self.ask(path, **options)
        self.assertEqual(status, 200, text)
        return json.loads(text)

    def test_a_service_sees_its_own_addresses_and_what_it_needs(self):
        job, port = self.serve("plain")
        seen = self.get(f"/jobs/{job}/web/sub/page?a=1&b=%2F", headers={"X-Own": "kept"})
        self.assertEqual(seen["path"], "/sub/page?a=1&b=%2F")
        self.assertEqual(seen["headers"]["X-Forwarded-Prefix"], f"/jobs/{job}/web")
        self.assertEqual(seen["headers"]["X-Forwarded-Proto"], "https")
        self.assertEqual(seen["headers"]["X-Forwarded-Host"], f"{self.host}:{self.port}")
        self.assertEqual(seen["headers"]["X-Own"], "kept")
        self.assertNotIn("Authorization", seen["headers"], "no job sees hai's token")
        # The same by its name, which leads to the number, and without the slash at its end.
        for path in ("/jobs/plain/web/sub?x", f"/jobs/{job}/web?x"):
            status, headers, _ = self.ask(path)
            self.assertEqual(status, 307, path)
            self.assertTrue(headers["Location"].startswith(f"/jobs/{job}/web/"), headers["Location"])
        # A port that no service names.
        self.assertEqual(self.get(f"/jobs/{job}/{port}/sub")["path"], "/sub")
        # `hai status` says where it is, and the REST interface.
        self.assertIn(f"web at https://{self.host}:{self.port}/jobs/{job}/web/", self.cluster.ok("status", job))
        self.assertEqual(
            self.cluster.job(job)["services"],
            [{"name": "web", "port": port, "rank": 0, "protocol": "http", "path": f"/jobs/{job}/web/"}],
        )

    def test_one_that_knows_where_it_is_keeps_its_path(self):
        job, port = self.serve("whole", "lab:{port}:keep_path")
        self.assertEqual(self.get(f"/jobs/{job}/lab/sub?x=1")["path"], f"/jobs/{job}/lab/sub?x=1")
        shown = self.cluster.ok("shell", job, "--", "sh", "-c", "echo $HAI_SERVICE_LAB_PORT $HAI_SERVICE_LAB_PATH")
        self.assertEqual(shown.split(), [str(port), f"/jobs/{job}/lab/"])

    def test_other_ranks_and_other_protocols(self):
        job, port = self.serve("ranks", "web:{port}:rank=1", "raw:{port}:tcp", nodes=2)
        self.assertEqual(self.get(f"/jobs/{job}/web/sub")["path"], "/sub")
        status, _, text = self.ask(f"/jobs/{job}/raw/")
        self.assertEqual(status, 400)
        self.assertIn(f"hai forward {job} raw", text.decode())
        status, _, text = self.ask(f"/jobs/{job}/none/")
        self.assertEqual((status, "it has no service none, but web, raw" in text.decode()), (404, True))
        # The same by `hai forward`.
        here = free_port()
        self.cluster.start_hai("forward", job, f"raw:{here}")

        def asked():
            try:
                own = http.client.HTTPConnection("127.0.0.1", here, timeout=10)
                own.request("GET", "/sub")
                return own.getresponse().status == 200
            except OSError:
                return False

        eventually("the port here leads there", asked)

    def test_bodies_of_any_size_go_both_ways(self):
        job, _ = self.serve("bodies")
        sent = b"abcdefgh" * 1_250_000  # more than the interface itself takes
        for body in (sent, iter([sent[:1], sent[1:70_000], sent[70_000:]])):
            status, _, text = self.ask(
                f"/jobs/{job}/web/x", "POST", body,
                {} if isinstance(body, bytes) else {"Transfer-Encoding": "chunked"},
            )  # fmt: skip
            self.assertEqual(status, 200, text)
            self.assertEqual(json.loads(text), {"bytes": len(sent), "sha": hashlib.sha256(sent).hexdigest()})
        status, _, text = self.ask(f"/jobs/{job}/web/much")
        self.assertEqual((status, len(text)), (200, 16_000_000))
        # An answer that comes before the body was heard reaches who is still sending.
        self.assertEqual(self.ask(f"/jobs/{job}/web/early", "POST", sent)[0], 413)
        status, headers, text = self.ask(f"/jobs/{job}/web/sub", "HEAD")
        self.assertEqual((status, text), (200, b""))
        self.assertGreater(int(headers["Content-Length"]), 10)

    def test_one_connection_carries_many_requests(self):
        job, _ = self.serve("many")
        own = self.connect()
        clients = {json.loads(self.ask(f"/jobs/{job}/web/sub{i}", connection=own)[2])["client"] for i in range(20)}
        self.assertEqual(len(clients), 1)
        # The service closes what it had kept: the next request gets another one.
        status, _, _ = self.ask(f"/jobs/{job}/web/close")
        self.assertEqual(status, 503)
        self.assertEqual(self.ask(f"/jobs/{job}/web/sub", connection=own)[0], 200)
        own.close()

    def test_what_comes_slowly_is_shown_as_it_comes(self):
        job, _ = self.serve("slow")
        own = self.connect()
        own.request("GET", f"/jobs/{job}/web/slowly", headers={"Authorization": f"Bearer {self.token}"})
        answer = own.getresponse()
        for number in range(3):
            self.assertEqual(answer.readline(), f"data: {number}\n".encode())
            self.assertEqual(answer.readline(), b"\n")
            self.cluster.file(f"go{number}", "")
        self.assertEqual(answer.read(), b"")
        own.close()

    def open(self, request, more=""):
        """A connection on which this has been said; what comes on it."""
        plain = socket.create_connection((self.host, self.port), timeout=30)
        own = self.cluster.browser().wrap_socket(plain, server_hostname=self.host)
        self.addCleanup(own.close)
        own.sendall(f"{request}Host: {self.host}:{self.port}\r\nAuthorization: Bearer {self.token}\r\n\r\n{more}".encode())
        return own, own.makefile("rb")

    def test_a_change_of_protocol_with_a_body_is_none(self):
        job, _ = self.serve("body")
        for body in ("Content-Length: 100000", "Transfer-Encoding: chunked"):
            _, reader = self.open(
                f"GET /jobs/{job}/web/switch HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                f"Sec-WebSocket-Version: 13\r\n{body}\r\n"
            )
            self.assertIn(b" 503 ", reader.readline())
        self.assertEqual(self.ask(f"/jobs/{job}/web/sub")[0], 200, "the server is there")

    def test_an_answer_that_is_cut_off_is_not_whole(self):
        job, _ = self.serve("cut")
        for path, ends in (("slowly", False), ("reset", True)):
            secret = self.secret()
            own = self.connect()
            own.request("GET", f"/jobs/{job}/web/{path}", headers={"Authorization": f"Bearer {secret}"})
            answer = own.getresponse()
            self.assertEqual(answer.readline(), b"data: 0\n")
            if ends:
                self.cluster.file("gone", "")
            else:
                self.cluster.ok("token", "revoke", hashlib.sha256(secret.encode()).hexdigest()[:12])
            with self.assertRaises((http.client.IncompleteRead, ConnectionError, ssl.SSLError)):
                answer.read()
            own.close()

    def test_a_websocket_goes_both_ways_until_either_side_ends(self):
        job, _ = self.serve("socket")
        key = base64.b64encode(b"0123456789abcdef").decode()
        request = (
            f"GET /jobs/{job}/web/socket HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
        )
        # What is said at once with the request goes on, too.
        for at_once in ("first\n", ""):
            own, reader = self.open(request, at_once)
            self.assertIn(b"101", reader.readline())
            while reader.readline().strip():
                pass
            if at_once:
                self.assertEqual(reader.readline(), b"heard first\n")
            for number in range(100):
                own.sendall(f"{number}\n".encode())
                self.assertEqual(reader.readline(), f"heard {number}\n".encode())
        self.cluster.ok("stop", job)
        self.assertEqual(reader.readline(), b"")

    def test_cookies_and_links_stay_below_the_service(self):
        job, _ = self.serve("cookies")
        _, headers, _ = self.ask(f"/jobs/{job}/web/cookies")
        self.assertEqual(
            headers.get_all("Set-Cookie"),
            [f"mine=1; HttpOnly; Path=/jobs/{job}/web/", f"wide=2; Path=/jobs/{job}/web/x"],
        )
        self.assertIsNone(headers["Clear-Site-Data"])
        self.assertIsNone(headers["Service-Worker-Allowed"])
        _, headers, _ = self.ask(f"/jobs/{job}/web/elsewhere")
        self.assertEqual(headers["Location"], f"/jobs/{job}/web/there?x=1")

    def session(self):
        """The cookie of a dashboard's session of root."""
        url = self.cluster.status()["http"]
        port = int(url.rsplit(":", 1)[1].strip("/"))
        own = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=self.cluster.browser())
        own.request(
            "POST", "/api/v1/session", json.dumps({"token": self.secret()}), {"Content-Type": "application/json"}
        )
        answer = own.getresponse()
        self.assertEqual(answer.status, 200, answer.read())
        answer.read()
        return answer.headers["Set-Cookie"].split(";")[0]

    def test_by_a_session_it_is_for_its_own_pages_only(self):
        job, _ = self.serve("session")
        cookie = self.session()
        path = f"/jobs/{job}/web/sub"
        seen = self.get(path, token=None, headers={"Cookie": f"own=1; {cookie}; more=2", "Authorization": "token own"})
        self.assertEqual(seen["headers"]["Cookie"], "own=1; more=2", "no job sees its owner's session")
        self.assertEqual(seen["headers"]["Authorization"], "token own", "what the service itself wants")
        here = {"Cookie": cookie, "Origin": f"https://{self.host}:{self.port}"}
        self.assertEqual(self.ask(path, "POST", b"x", here, token=None)[0], 200)
        for method in ("GET", "POST"):
            status, _, text = self.ask(path, method, None, {**here, "Origin": "https://evil.example"}, token=None)
            self.assertEqual((status, b"may not ask here" in text), (403, True))
        # Of two cookies one may have been put there by a page of a job, for a longer path.
        two = {"Cookie": f"hai_session={'0' * 64}; {cookie}"}
        self.assertEqual(self.ask(path, token=None, headers=two)[0], 401)
        # A page that this port shows may do nothing at the dashboard's.
        url = self.cluster.status()["http"]
        own = http.client.HTTPSConnection(
            "127.0.0.1", int(url.rsplit(":", 1)[1].strip("/")), timeout=30, context=self.cluster.browser()
        )
        own.request("POST", f"/api/v1/jobs/{job}/stop", b"{}", {**here, "Content-Type": "application/json"})
        self.assertEqual(own.getresponse().status, 403)

    def test_nobody_else_gets_there(self):
        job, _ = self.serve("private")
        path = f"/jobs/{job}/web/sub"
        status, _, text = self.ask(path, token=None)
        self.assertEqual(status, 401, text)
        status, headers, text = self.ask(path, token=None, headers={"Accept": "text/html"})
        self.assertEqual(status, 401)
        self.assertIn("text/html", headers["Content-Type"])
        self.assertIn("Sign in to the dashboard at https://", text.decode())
        self.assertEqual(self.ask(path, token="hai_" + "0" * 64)[0], 401)
        self.cluster.ok("user", "add", "bob")
        for role in ("user", "admin"):
            self.cluster.ok("user", "set", "bob", "--role", role)
            status, _, text = self.ask(path, token=self.secret("bob"))
            self.assertEqual((status, b"belongs to root" in text), (403, True), text)
            # Not even what services there are.
            self.assertEqual(self.ask(f"/jobs/{job}/none/", token=self.secret("bob"))[0], 403)
        read = self.cluster.ok("token", "create", "--label", "r", "--scope", "read").strip()
        self.assertEqual(self.ask(path, token=read)[0], 403)
        told = [each for each in self.cluster.json("audit") if each["call"] == "Shell"]
        self.assertTrue(any("service web" in json.dumps(each) for each in told), told[:3])
        words = ("audit", "--call", "Shell", "--result", "unauthenticated")
        eventually("who was refused at the port is noted", lambda: self.cluster.json(*words))

    @unittest.skipIf(os.geteuid() != 0, "not root: no program of another user")
    def test_a_port_that_another_user_has_taken_is_not_shown(self):
        job, _ = self.serve("taken")
        port = free_port()
        other = subprocess.Popen(
            ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
             sys.executable, self.cluster.work / "serve.py", str(port)],
        )  # fmt: skip
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)

        def listens():
            with socket.socket() as tried:
                return tried.connect_ex(("127.0.0.1", port)) == 0

        eventually("the other listens", listens)
        status, _, text = self.ask(f"/jobs/{job}/{port}/sub")
        self.assertEqual(status, 503, text)
        self.assertIn("is one of another user's programs", text.decode())

    def test_one_that_is_not_there_yet_is_waited_for(self):
        port = free_port()
        spec = self.cluster.spec("late", "/bin/sh", f"-c 'while [ ! -e begin ]; do sleep 0.05; done; exec /usr/bin/python3 serve.py {port}'")
        spec["services"] = [f"web:{port}"]
        job = self.cluster.run(spec)
        self.addCleanup(self.cluster.hai, "stop", job)
        self.cluster.wait_running(job)
        status, headers, text = self.ask(f"/jobs/{job}/web/", headers={"Accept": "text/html"})
        self.assertEqual((status, headers["Retry-After"]), (503, "3"))
        self.assertIn('http-equiv="refresh"', text.decode())
        self.assertIn(str(port), text.decode())
        self.cluster.file("begin", "")
        eventually("it serves", lambda: self.ask(f"/jobs/{job}/web/")[0] == 200)
        self.cluster.ok("stop", job)
        self.cluster.wait_end(job, "stopped")
        # What is over is not waited for.
        status, headers, text = self.ask(f"/jobs/{job}/web/", headers={"Accept": "text/html"})
        self.assertEqual((status, b"it is stopped" in text), (404, True), text)
        self.assertNotIn(b"refresh", text)

    def test_what_is_no_service_is_said_in_one_line(self):
        for path in ("/", "/jobs/1", "/api/v1/whoami", "/jobs//x/", "/jobs/1//", "/x" * 3000):
            self.assertEqual(self.ask(path)[0], 404, path)
        self.assertEqual(self.ask("/jobs/999999/web/")[0], 404)
        for text, error in (
            ("web", "must be NAME:PORT, the port 1..65535, as web:8888"),
            ("web:0", "the port 1..65535"),
            ("Web:80", "the name of a-z, 0-9 and -"),
            ("web:80:udp", "'udp' is none of tcp, keep_path, rank=N"),
            ("web:80:rank=1", "the job has 1 node, ranks 0 to 0, not 1"),
        ):
            spec = self.cluster.spec("bad", "/bin/true")
            spec["services"] = [text]
            done = self.cluster.hai("run", "-", stdin=json.dumps(spec))
            self.assertEqual(done.code, 2, done)
            self.assertIn(error, done.err)
        for service, error in (
            ({"name": "web", "port": 80, "startup_script": "x"}, "start it from the entrypoint"),
            ({"name": "web", "port": 80, "type": "local"}, "http"),
            ({"name": "web"}, "port"),
        ):
            spec = self.cluster.spec("bad", "/bin/true")
            spec["services"] = [service]
            done = self.cluster.hai("run", "-", stdin=json.dumps(spec))
            self.assertEqual((done.code, error in done.err), (2, True), done)
        # As HAI writes it.
        spec = self.cluster.spec("hai", "/bin/true")
        spec["services"] = [{"name": "web", "port": 8123, "type": "http", "rank": [0], "rewrite_uri": False}]
        job = self.cluster.run(spec)
        self.assertIn("web:8123:keep_path", self.cluster.ok("describe", job, "--spec"))

    def test_who_goes_leaves_nothing_open(self):
        job, _ = self.serve("gone")
        before = time.monotonic()
        for _ in range(20):
            plain = socket.create_connection((self.host, self.port), timeout=30)
            own = self.cluster.browser().wrap_socket(plain, server_hostname=self.host)
            own.sendall(
                f"GET /jobs/{job}/web/slowly HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n\r\n".encode()
            )
            own.recv(1)
            own.close()
        shells = lambda: [pid for pid, line in self.cluster.processes().items() if "--shell" in line]
        eventually("no connection is left there", lambda: not shells())
        self.assertLess(time.monotonic() - before, 30)


if __name__ == "__main__":
    unittest.main()
