"""The chaos world with a highly available store in place of its one PostgreSQL."""

from ha_machines import MACHINES, HaStore
from world import KNOBS, World


class HaWorld(World):
    store_hosts = MACHINES
    # The time without a store counts (docs/reliability.md), so that what is usual for sites is needed.
    knobs = {**KNOBS, "launch_timeout": "60s"}

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
