"""The store is restored to a moment by the commands of docs/operations/ha-store.md. Jobs run on."""

import time

from doc import block
from ha_load import PAUSE_SECONDS, Stream, probes
from install import SERVERS, STORES, everywhere, members, store_is_whole, store_leader
from world import wait

FORGOTTEN_SECONDS = 8.0
SURE = "hai\nYes I am aware\n"  # what patronictl asks for


def restore(site, judge, probe, jobs, say):
    """What was acknowledged before the moment is there once, and nothing runs twice. The streams
    have ended when this returns."""
    site[store_leader(site)].run(full_backup())
    for stream in jobs:
        stream.stop()
    acknowledged = len(probe.acknowledged)
    # pgBackRest counts in seconds: the moment must be later than the backup by one at least.
    wait("more are acknowledged", lambda: len(probe.acknowledged) > acknowledged + 25, 30)
    moment = site.rows("SELECT clock_timestamp()")[0][0]
    time.sleep(FORGOTTEN_SECONDS)
    probe.stop()
    site[store_leader(site)].run("runuser -u postgres -- pgbackrest --stanza=hai check")
    began = time.monotonic()
    build_again(site, moment)
    wait("a server leads", site.leader, 60)
    wait("the incident store_went_back", lambda: incidents(site), 60)
    again = Stream(probe.client, probes(site, "again"), PAUSE_SECONDS)
    again.start()
    wait("submits are taken again", lambda: len(again.acknowledged) > 10, 60)
    taken = time.monotonic() - began
    again.stop()
    wait("all is whole", site.is_whole, 240, pause=1)
    forgotten = len(probe.acknowledged) - acknowledged
    probe.forget_after(acknowledged)
    judge.streams.append(again)
    judge.may_repeat = True
    say(
        f"restored to {moment}: {forgotten} submits after it are forgotten, submits are taken"
        f" {taken:.0f} s after the restore began; incident store_went_back"
    )


def full_backup():
    return line(block("ha-store.md", "--type=full"), "--type=full")


def line(text, mark):
    return next(words for words in text.splitlines() if mark in words).split(" #")[0]


def build_again(site, moment):
    commands = block("ha-store.md", "restore --to").replace("2026-11-24T10:00:00Z", f"'{moment}'")
    first = site[STORES[0]]
    everywhere(SERVERS, lambda name: site[name].run(line(commands, "stop hai-server")))
    everywhere(STORES, lambda name: site[name].run(line(commands, "stop patroni")))
    first.run(line(commands, "remove hai"), stdin=SURE)
    first.run(line(commands, "restore --to"), seconds=300)
    everywhere(STORES[1:], lambda name: site[name].run(line(commands, "hai.before")))
    start = line(commands, "start patroni")
    first.run(start)
    wait("db1 leads", lambda: members(site).get(STORES[0], ("",))[0] == "leader", 120, pause=0.5)
    everywhere(STORES[1:], lambda name: site[name].run(start))
    wait("the store has a leader and two who follow", lambda: store_is_whole(site), 240, pause=1)
    everywhere(SERVERS, lambda name: site[name].run(line(commands, "start hai-server")))


def incidents(site):
    return site.rows("SELECT id FROM incident WHERE kind = 'store_went_back'")
