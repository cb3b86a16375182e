"""The store is destroyed, and restored to a moment as docs/operations/ha-store.md says. Jobs run on meanwhile."""

import shutil
import signal
import time

from ha_load import PAUSE_SECONDS, Stream, probes
from ha_machines import MACHINES, POSTGRES_BIN
from world import wait

FORGOTTEN_SECONDS = 8.0


def restore(world, judge, probe, jobs, say):
    """What was acknowledged before the moment is there once, and nothing runs twice. The streams have ended
    when this returns."""
    primary = world.store.primary()
    primary.command("pgbackrest", "--stanza=hai", "--type=full", "backup")
    jobs.stop()
    acknowledged = list(probe.acknowledged)
    running = list(jobs.acknowledged)
    # pgBackRest counts in seconds: the moment must be later than the backup by one at least.
    wait("more are acknowledged", lambda: len(probe.acknowledged) > len(acknowledged) + 25, 30)
    moment = primary.sql("SELECT clock_timestamp()")
    time.sleep(FORGOTTEN_SECONDS)
    probe.stop()
    primary.command("pgbackrest", "--stanza=hai", "check")
    for server in world.servers.values():
        server.end(signal.SIGTERM)
    destroy(world.store)
    began = time.monotonic()
    build_again(world.store, moment)
    for server in world.servers.values():
        server.start()
    world.wait_leading(60)
    wait("the incident store_went_back", lambda: incidents(world), 60)
    again = Stream(probe.client, probes(world, "again"), PAUSE_SECONDS)
    again.start()
    wait("submits are taken again", lambda: len(again.acknowledged) > 10, 60)
    taken = time.monotonic() - began
    again.stop()
    world.wait_up(120)
    forgotten = len(probe.acknowledged) - len(acknowledged)
    probe.forget_after(len(acknowledged))
    jobs.acknowledged = running
    judge.streams.append(again)
    judge.may_repeat = True
    say(
        f"restored to {moment}: {forgotten} submits after it are forgotten, submits are taken"
        f" {taken:.0f} s after the restore began; incident store_went_back"
    )


def incidents(world):
    return world.store.rows("SELECT id FROM incident WHERE kind = 'store_went_back'")


def destroy(store):
    for machine in store.machines.values():
        machine.kill()
        shutil.rmtree(machine.data)
        shutil.rmtree(machine.root / "etcd" / "hai")


def make_paths_own(machine):
    """The files that come back are of the machine that was backed up. Real machines have the same paths."""
    for file in machine.data.glob("postgresql*.conf"):
        text = file.read_text()
        for other in machine.store.machines.values():
            text = text.replace(f"{other.root}/", f"{machine.root}/")
        file.write_text(text)


def build_again(store, moment):
    first = store.machines[MACHINES[0]]
    for machine in store.machines.values():
        machine.start_etcd()
    wait("etcd has a leader", store.etcd_leader, 30)
    first.command(
        *("pgbackrest", "--stanza=hai", "--type=time", f"--target={moment}"),
        *("--target-action=promote", "restore"),
    )
    make_paths_own(first)
    control = [POSTGRES_BIN / "pg_ctl", "-D", first.data, "-w"]
    log = first.root / "log" / "restore.log"
    # The config that comes back is of the machine that was backed up, with its address.
    first.command(*control, "-l", log, "-o", "-c listen_addresses=", "start")
    wait("it is promoted", lambda: first.sql("SELECT pg_is_in_recovery()") == "f", 60)
    first.command(*control, "stop")
    first.start()
    wait("it is the primary", lambda: store.primary() is first, 60)
    store.start()
    store.wait_whole(150)
