#!/usr/bin/env python3
"""What the way through the server costs a service of a job: a small request over a kept connection, one over a
new connection, and megabytes each way, beside the same asked directly on the node.

usage: service_speed.py [--requests 400] [--megabytes 128]; HAI_BIN as the tests
"""

import argparse
import http.client
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from cluster import Cluster, eventually  # noqa: E402
from service_test import PROGRAM, free_port  # noqa: E402


def spread(times):
    times = sorted(times)
    return f"p50 {statistics.median(times):.2f}, p90 {times[len(times) * 9 // 10]:.2f}, max {times[-1]:.2f} ms"


def timed(act):
    began = time.monotonic()
    act()
    return (time.monotonic() - began) * 1000


def ask(connection, path, head, method="GET", body=None):
    connection.request(method, path, body, head)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status} {text[:200]}")
    return text


def measure(what, connect, prefix, head, words):
    kept = connect()
    ask(kept, prefix + "/sub", head)
    print(f"{what}: a request over a kept connection: {spread([timed(lambda: ask(kept, prefix + '/sub', head)) for _ in range(words.requests)])}")
    print(f"{what}: over a new one: {spread([timed(lambda: ask(connect(), prefix + '/sub', head)) for _ in range(words.requests // 8)])}")
    times = [timed(lambda: ask(kept, prefix + "/much", head)) for _ in range(max(1, words.megabytes // 16))]
    print(f"{what}: 16 MB down: {16_000 / statistics.median(times):.0f} MB/s (median of {len(times)})")
    body = b"x" * 16_000_000
    times = [timed(lambda: ask(kept, prefix + "/x", head, "POST", body)) for _ in range(max(1, words.megabytes // 16))]
    print(f"{what}: 16 MB up: {16_000 / statistics.median(times):.0f} MB/s (median of {len(times)})")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--requests", type=int, default=400)
    options.add_argument("--megabytes", type=int, default=128)
    words = options.parse_args()
    cluster = Cluster(name="speed", nodes=1)
    try:
        cluster.up()
        cluster.file("serve.py", PROGRAM)
        port = free_port()
        spec = cluster.spec("served", "/usr/bin/python3", f"serve.py {port}")
        spec["services"] = [f"web:{port}"]
        job = cluster.run(spec)
        cluster.wait_running(job)
        host, at = cluster.json("whoami")["services_url"].split("://")[1].rsplit(":", 1)
        head = {"Authorization": f"Bearer {cluster.ok('token', 'create', '--label', 'bench').strip()}"}
        direct = lambda: http.client.HTTPConnection("127.0.0.1", port, timeout=60)  # noqa: E731
        through = lambda: http.client.HTTPSConnection(  # noqa: E731
            host, int(at), timeout=60, context=cluster.browser()
        )

        def serves():
            try:
                return bool(ask(direct(), "/sub", {}))
            except OSError:
                return False

        eventually("it serves", serves)
        measure("direct", direct, "", {}, words)
        measure("through hai, TLS", through, f"/jobs/{job}/web", head, words)
    finally:
        cluster.close()


if __name__ == "__main__":
    main()
