#!/usr/bin/env python3
"""How long a cluster is without a leader after `kill -9` of the one it had.

Two servers on one PostgreSQL and two agents. Each round kills the leader, then submits to the other
until it answers 201 ("acknowledged": the submit is durable) and looks when the job was placed
("placed": the agents are back and a plan was carried out). The killed server comes back as standby.

With both servers in one pid namespace the standby sees that the leader is dead and need not wait for
its lease. --apart gives one of them a pid namespace of its own, as another machine would be.

usage: failover.py [--kills 30] [--apart] [--json FILE]; HAI_BIN says where the programs are.
"""

import argparse
import datetime
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

from cluster import eventually  # noqa: E402
from servers import Servers  # noqa: E402

RETRY_SECONDS = 0.005


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def seconds_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def acknowledged(server, spec, key, limit):
    """Asks again and again, with the same key, until the job is accepted; its id."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        headers = {"Idempotency-Key": key}
        status, _, text = server.get("/api/v1/jobs", "POST", json.dumps(spec), headers, seconds=5)
        if status == 201:
            return json.loads(text)["id"]
        time.sleep(RETRY_SECONDS)
    raise SystemExit(f"no server led within {limit} s; the last answer was {status} {text}")


def one_kill(cluster, number):
    leader, standby = cluster.leader(), cluster.standby()
    eventually("the standby knows who leads", lambda: "leads" in standby.get("/readyz")[2])
    began, wall = time.monotonic(), time.time()
    leader.kill()
    spec = cluster.spec(f"kill-{number}", "/bin/true", gpus=1)
    job = acknowledged(standby, spec, f"kill-{number}", 30)
    answered = time.monotonic() - began

    def placed():
        rows = json.loads(standby.get(f"/api/v1/jobs/{job}/attempts")[2])["attempts"]
        return rows and seconds_of(rows[-1]["placed_at"]) - wall

    first = eventually(f"job {job} is placed", placed)
    leader.start()
    eventually("it is back", lambda: leader.get("/livez")[0] == 200)
    return answered, first


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--apart", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    wrapper = ["unshare", "--pid", "--fork", "--mount-proc"] if options.apart else []
    cluster = Servers(count=2, nodes=2, wrapper=wrapper)
    try:
        cluster.up()
        rounds = [one_kill(cluster, number) for number in range(options.kills)]
    finally:
        cluster.close()
    result = {"kills": options.kills, "apart": options.apart}
    for name, values in zip(("acknowledged", "placed"), zip(*rounds)):
        result[name] = {
            "p50_s": round(percentile(values, 0.5), 3),
            "p99_s": round(percentile(values, 0.99), 3),
            "max_s": round(max(values), 3),
        }
    print(json.dumps(result))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
