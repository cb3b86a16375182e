#!/usr/bin/env python3
"""A whole cluster joins: real `hai-agent join` by the hundred, with one token, at a real server over TLS.

usage: join_storm.py [--nodes 1250] [--at-once 64] [--one-address]; HAI_BIN as the tests

The machines come from 127.0.1.1 to 127.0.1.250 (a small library binds their sockets, which takes `cc`), or,
with --one-address, all from 127.0.0.1, as behind one NAT. Their own start, and what else runs on the machine,
is part of how long a join takes; the server's CPU time is its own. Of loopback the server takes as many
connections as it may have at all, from another address 5,000. Exit code 1: not all have joined.
"""

import argparse
import concurrent.futures
import pathlib
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from cluster import programs  # noqa: E402
from join_test import JoinServers  # noqa: E402
from tls import cpu_seconds  # noqa: E402

ADDRESSES = 250
PATIENCE = 600  # seconds with one join: longer than it is patient itself
# Binds each socket that is to be connected to the address in $JOIN_FROM; gRPC's are of IPv6.
BIND = r"""
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
int connect(int fd, const struct sockaddr *to, socklen_t size) {
  int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "connect");
  struct sockaddr_in v4 = {.sin_family = AF_INET};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
  char mapped[64];
  snprintf(mapped, sizeof mapped, "::ffff:%s", getenv("JOIN_FROM"));
  if (to->sa_family == AF_INET && inet_pton(AF_INET, getenv("JOIN_FROM"), &v4.sin_addr) == 1)
    bind(fd, (struct sockaddr *)&v4, sizeof v4);
  if (to->sa_family == AF_INET6 && inet_pton(AF_INET6, mapped, &v6.sin6_addr) == 1)
    bind(fd, (struct sockaddr *)&v6, sizeof v6);
  return next(fd, to, size);
}
"""


def build_binder(folder):
    source, library = folder / "bind.c", folder / "bind.so"
    source.write_text(BIND)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def join(cluster, words, number, binder):
    """(seconds, whether it had to ask again, None or why it did not join)"""
    name = f"node-{number}"
    server, secret, fingerprint = words
    environment = cluster.environment()
    if binder:
        environment |= {"LD_PRELOAD": str(binder), "JOIN_FROM": f"127.0.1.{1 + number % ADDRESSES}"}
    began = time.monotonic()
    try:
        done = subprocess.run(
            [str(programs() / "hai-agent"), "join", server, "--token", secret, "--ca-fingerprint", fingerprint,
             "--config", str(cluster.config(name)), "--no-start"],
            capture_output=True, text=True, env=environment, timeout=PATIENCE,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return time.monotonic() - began, True, f"no end within {PATIENCE} s"
    said = done.stderr.splitlines()
    why = None if done.returncode == 0 else said[-1] if said else f"exit code {done.returncode}"
    return time.monotonic() - began, any("; asking again" in line for line in said), why


def peak_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def storm(cluster, options):
    pid = cluster.servers[0].pids()[0]
    words = cluster.token(f"node-[1-{options.nodes}]", "--uses", str(options.nodes))
    binder = None if options.one_address else build_binder(cluster.root)
    numbers = range(1, options.nodes + 1)
    for number in numbers:
        cluster.write_config(f"node-{number}")
    cpu, began = cpu_seconds(pid), time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        results = list(pool.map(lambda number: join(cluster, words, number, binder), numbers))
    whole, cpu = time.monotonic() - began, cpu_seconds(pid) - cpu
    known = {each["node"] for each in cluster.json("node", "identities")}
    joined = sum(why is None and f"node-{number}" in known for number, (_, _, why) in zip(numbers, results))
    again = sum(had_to for _, had_to, _ in results)
    seconds = [each for each, _, _ in results]
    where = "one address" if options.one_address else f"{min(ADDRESSES, options.nodes)} addresses"
    print(f"{options.nodes} machines, {options.at_once} at once, from {where}")
    print(f"joined {joined}, refused {options.nodes - joined}, asked again {again}")
    print(f"a join: median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s; all: {whole:.1f} s")
    print(f"server: {cpu:.1f} s of CPU ({1000 * cpu / options.nodes:.1f} ms each), peak memory {peak_mib(pid):.0f} MiB")
    for why in sorted({why for _, _, why in results if why})[:10]:
        print(f"refused: {why}", file=sys.stderr)
    return joined == options.nodes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_250)
    parser.add_argument("--at-once", type=int, default=64)
    parser.add_argument("--one-address", action="store_true")
    options = parser.parse_args()
    cluster = JoinServers()
    try:
        cluster.up()
        return 0 if storm(cluster, options) else 1
    finally:
        cluster.close()


if __name__ == "__main__":
    sys.exit(main())
