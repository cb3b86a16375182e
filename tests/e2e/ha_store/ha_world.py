"""The chaos world with a highly available store in place of its one PostgreSQL."""

import subprocess

from ha_machines import MACHINES, HaStore
from world import World, wait


class HaWorld(World):
    store_hosts = MACHINES

    def make_store(self):
        store = HaStore(self.root, self.network)
        store.create()
        return store

    @property
    def store(self):
        return self.postgres

    def supervise(self):
        """Nothing of hai may end by itself while its store moves; patroni and etcd neither."""
        for daemon in [*self.servers.values(), *self.agents.values()]:
            code = daemon.surprise()
            if code is not None:
                self.surprises.append(f"{daemon.name} ended with {code}")
                daemon.start()
        for machine in self.store.machines.values():
            for daemon in (machine.etcd, machine.patroni):
                code = daemon.surprise()
                if code is not None:
                    self.surprises.append(f"{daemon.name} ended with {code}")
                    machine.start()

    def verify(self):
        """`hai-server verify`: (all is well, what it said)."""
        config = self.root / "server-a.yaml"
        done = subprocess.run(
            [self.programs / "hai-server", "--config", config, "verify"],
            capture_output=True,
            text=True,
            timeout=180,
        )
        return done.returncode == 0, (done.stdout + done.stderr)[-2000:]

    def wait_workers(self, jobs, seconds):
        """Until all running jobs have come to their end."""
        def ended():
            self.supervise()
            states = {job["id"]: job["state"] for job in self.admin.jobs()}
            return all(
                states.get(submit.answers[0]) in ("succeeded", "failed", "stopped")
                for submit in jobs.acknowledged
            )

        wait(f"all workers end within {seconds} s", ended, seconds, pause=1)
