"""The store is destroyed, and restored to a moment as docs/operations/ha-store.md says. Jobs run on meanwhile."""

import pathlib
import shutil
import signal
import time

from ha_load import PAUSE_SECONDS, Stream, probes
from world import wait

FORGOTTEN_SECONDS = 8.0
BACKUP = pathlib.Path(__file__).parents[3] / "deploy" / "hai-backup"


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
    # Onto the machine that was backed up: others have other paths here, real ones do not.
    build_again(world.store, primary, moment)
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


def build_again(store, first, moment):
    for machine in store.machines.values():
        machine.start_etcd()
    wait("etcd has a leader", store.etcd_leader, 30)
    program = first.root / "hai-backup"  # where the user postgres may read it
    shutil.copy(BACKUP, program)
    early = first.command(program, "restore", "--to", "2001-01-01T00:00:00Z", check=False, errors=True)
    assert "the oldest backup ended at" in early and not first.data.exists(), early
    first.command(program, "restore", "--to", moment)
    first.start()
    wait("it is the primary", lambda: store.primary() is first, 60)
    store.start()
    store.wait_whole(150)
