"""A service that answers anything, and clients that ask anything: pieces of HTTP in any order, cut anywhere, on
connections that end at any moment. The server must live, and answer the next one. STORM_SECONDS=300 for longer."""

import os
import random
import socket
import ssl
import threading
import time
import unittest

from cluster import ClusterTest, eventually
from service_test import free_port

SECONDS = float(os.environ.get("STORM_SECONDS", "15"))

# Says whole answers and pieces of some, whatever it is asked.
PROGRAM = '''\
import random, socket, sys, threading, time

PIECES = [
    b"HTTP/1.1 200 OK\\r\\n", b"HTTP/1.0 200 OK\\r\\n", b"HTTP/1.1 204 No\\r\\n", b"HTTP/1.1 304 No\\r\\n",
    b"HTTP/1.1 100 Continue\\r\\n\\r\\n", b"HTTP/1.1 103 Early\\r\\nLink: x\\r\\n\\r\\n",
    b"HTTP/1.1 101 Switching\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n\\r\\n", b"HTTP/1.1 302 Go\\r\\nLocation: /x\\r\\n",
    b"Content-Length: 5\\r\\n", b"Content-Length: 0\\r\\n", b"Transfer-Encoding: chunked\\r\\n", b"Connection: close\\r\\n",
    b"Set-Cookie: a=1; Path=/\\r\\n", b"\\r\\n", b"hello", b"5\\r\\nhello\\r\\n", b"0\\r\\n\\r\\n", b"x" * 40_000, b"\\x00\\xff", b"1\\r\\n",
]
USUAL = b"HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhello"
WHOLE = [
    USUAL, PIECES[4] + USUAL, PIECES[6], PIECES[6], PIECES[6] + b"said", b"HTTP/1.1 204 No\\r\\n\\r\\n", b"HTTP/1.1 304 No\\r\\n\\r\\n",
    b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n5\\r\\nhello\\r\\n0\\r\\n\\r\\n",
    b"HTTP/1.0 200 OK\\r\\n\\r\\nuntil the end", b"HTTP/1.1 413 Much\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n",
]

def serve(connection, chance):
    try:
        connection.settimeout(2)
        while True:
            asked = connection.recv(65536)
            if not asked:
                return
            if b"/usual" in asked:
                connection.sendall(USUAL)
                continue
            if chance.random() < 0.7:
                connection.sendall(chance.choice(WHOLE))
                if chance.random() < 0.9:
                    continue
            for _ in range(chance.randrange(8)):
                connection.sendall(chance.choice(PIECES) if chance.random() < 0.8 else USUAL)
                if chance.random() < 0.1:
                    time.sleep(chance.random() / 50)
            if chance.random() < 0.3:
                if chance.random() < 0.5:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\\1\\0\\0\\0\\0\\0\\0\\0")
                return
    except OSError:
        pass
    finally:
        connection.close()

door = socket.create_server(("127.0.0.1", int(sys.argv[1])))
number = 0
while True:
    accepted, _ = door.accept()
    number += 1
    threading.Thread(target=serve, args=(accepted, random.Random(number)), daemon=True).start()
'''


class ServiceStormTest(ClusterTest):
    shape = {"name": "storm", "nodes": 1}

    def setUp(self):
        self.host, port = self.cluster.json("whoami")["services_url"].split("://")[1].rsplit(":", 1)
        self.port = int(port)
        self.token = self.cluster.ok("token", "create", "--label", "storm").strip()
        self.context = self.cluster.browser()

    def connect(self):
        plain = socket.create_connection((self.host, self.port), timeout=5)
        return self.context.wrap_socket(plain, server_hostname=self.host)

    def pieces(self, job):
        who = f"Host: {self.host}:{self.port}\r\nAuthorization: Bearer {self.token}\r\n".encode()
        heads = [
            f"{method} /jobs/{job}/web/{path} HTTP/1.{minor}\r\n".encode() + who
            for method in ("GET", "POST", "HEAD", "OPTIONS")
            for path in ("any", "usual", "%zz?x=%")
            for minor in (0, 1)
        ]
        upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"
        return heads, [
            b"\r\n", b"\r\n", b"\r\n", upgrade, upgrade + b"\r\n", b"Content-Length: 5\r\n\r\nhello",
            b"Content-Length: 100000\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n", b"5\r\nhello\r\n", b"0\r\n\r\n",
            b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\n", b"hello", b"y" * 50_000, b"Connection: close\r\n\r\n",
            b"Cookie: hai_session=x; a=1\r\n", b"\x00\xff\r\n",
        ], [
            b"\r\n", b"Content-Length: 5\r\n\r\nhello", b"Content-Length: 50000\r\n\r\n" + b"z" * 50_000, upgrade + b"\r\n",
            upgrade + b"\r\nat once", upgrade + b"Content-Length: 100000\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", b"Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
        ]  # fmt: skip

    def one_client(self, seed, job, until, failed):
        chance = random.Random(seed)
        heads, rest, whole = self.pieces(job)
        while time.monotonic() < until and not failed:
            try:
                own = self.connect()
            except ConnectionRefusedError as error:
                failed.append(f"seed {seed}: {error}")
                return
            except (OSError, ssl.SSLError):
                continue
            try:
                own.settimeout(0.05)
                for _ in range(chance.randrange(1, 6)):
                    if chance.random() < 0.7:  # one whole request
                        own.sendall(chance.choice(heads) + chance.choice(whole))
                    else:
                        own.sendall(chance.choice(heads))
                        for _ in range(chance.randrange(1, 5)):
                            own.sendall(chance.choice(rest))
                    if chance.random() < 0.7:
                        try:
                            own.recv(chance.choice((1, 100, 65536)))
                        except TimeoutError:
                            pass
                if chance.random() < 0.3:
                    own.settimeout(1)
                    own.unwrap()
            except (OSError, ssl.SSLError, ValueError):
                pass
            finally:
                own.close()

    def test_the_server_outlives_whatever_is_said(self):
        self.cluster.file("any.py", PROGRAM)
        port = free_port()
        spec = self.cluster.spec("any", "/usr/bin/python3", f"any.py {port}")
        spec["services"] = [f"web:{port}"]
        job = self.cluster.run(spec)
        self.cluster.wait_running(job)

        def usual():
            own = self.connect()
            own.sendall(
                f"GET /jobs/{job}/web/usual HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n\r\n".encode()
            )
            with own, own.makefile("rb") as answer:
                return answer.readline().startswith(b"HTTP/1.1 200")

        eventually("it serves", usual)
        servers = lambda: [pid for pid, line in self.cluster.processes().items() if "hai-server" in line]  # noqa: E731
        before = servers()
        self.assertEqual(len(before), 1)
        seed = int(os.environ.get("STORM_SEED", time.time_ns() // 1_000_000))
        print(f"seed {seed}", flush=True)
        failed, until = [], time.monotonic() + SECONDS
        clients = [
            threading.Thread(target=self.one_client, args=(seed + number, job, until, failed)) for number in range(8)
        ]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual(failed, [])
        eventually("it serves as before", usual)
        self.assertEqual(servers(), before)
        eventually(
            "nothing is left open in the rank",
            lambda: not [line for line in self.cluster.processes().values() if "hai-shim --shell" in line],
            90,
        )


if __name__ == "__main__":
    unittest.main()
