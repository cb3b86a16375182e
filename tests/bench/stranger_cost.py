#!/usr/bin/env python3
"""What somebody who is not known costs the server: CPU time and memory for each request that it refuses,
small ones, ones of 64 KiB and ones that say they are larger, by HTTPS on kept connections and new ones.

usage: stranger_cost.py [--requests 5000]; HAI_BIN as the tests

CPU time is the server's own (all threads), so that what else runs on the machine counts little.
"""

import argparse
import os
import pathlib
import socket
import ssl
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from cluster import Cluster  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
BODIES = {
    "of a line": b'{"drain": ["n1"]}',
    # What it would cost to read: 6,500 names each of which stands for 99,999.
    "of 64 KiB, lists of names": (b'{"drain": [' + b'"n[1-99999]",' * 4680 + b'"n1"]}')[:65_000],
    "of 64 KiB, YAML of many anchors": (b"a: &a [x,x,x,x,x,x,x,x]\n" + b"".join(b"k%d: [*a,*a,*a,*a]\n" % i for i in range(3000)))[:65_000],
}


def server_pid(cluster):
    return int((pathlib.Path(cluster.data) / "run" / "server.pid").read_text().split()[0])


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def memory_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


class Stranger:
    def __init__(self, address, body, kind, keep):
        self.address, self.keep = address, keep
        self.request = (
            b"POST /api/v1/whatif HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer hai_made_up\r\n"
            b"Content-Type: %s\r\nContent-Length: %d\r\n\r\n" % (kind, len(body))
        ) + body
        self.context = ssl._create_unverified_context()
        self.stream = None

    def connect(self):
        plain = socket.create_connection(self.address, timeout=20)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.stream = self.context.wrap_socket(plain)

    def ask(self):
        if self.stream is None:
            self.connect()
        closes = not self.keep
        try:
            self.stream.sendall(self.request)
            answer = self.stream.recv(65_536)
        except (ConnectionError, ssl.SSLError, OSError):
            self.stream = None
            return False  # refused while it still spoke
        status = answer.split(b" ", 2)[1:2]
        if status != [b"401"]:
            raise RuntimeError(f"a stranger was answered {answer[:100]}")
        if closes or b"connection: close" in answer.lower():
            self.stream.close()
            self.stream = None
        return True


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--requests", type=int, default=5_000)
    words = options.parse_args()
    cluster = Cluster(name="stranger", nodes=1)
    try:
        cluster.up()
        pid = server_pid(cluster)
        host, port = cluster.status()["http"].rsplit(":", 1)
        for what, body in BODIES.items():
            for keep in (True, False):
                kind = b"application/yaml" if "YAML" in what else b"application/json"
                stranger = Stranger((host.split("/")[-1], int(port)), body, kind, keep)
                count = words.requests if keep else words.requests // 5
                stranger.ask()
                cpu, memory = cpu_seconds(pid), memory_mib(pid)
                answered = sum(stranger.ask() for _ in range(count))
                used = (cpu_seconds(pid) - cpu) / count * 1000
                print(
                    f"{what}, {'kept connections' if keep else 'a connection each'}: {used:.3f} ms of CPU each, "
                    f"memory {memory_mib(pid) - memory:+.1f} MiB after {count} ({answered} answered)"
                )
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
