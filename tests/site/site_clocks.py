"""A wall clock of its own for hai's services of each machine, by Debian's libfaketime, for the machines are
all on one kernel: its file says how far it is from the true time, and can be changed while they run.
The monotonic clock is the kernel's, as after a real step."""

import pathlib

from install import NODES, SERVERS, everywhere

LIBRARY = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
FILE = "/etc/hai-clock"
HOUR = 3600
DROP_IN = f"""[Service]
Environment=LD_PRELOAD={LIBRARY} FAKETIME_TIMESTAMP_FILE={FILE} FAKETIME_NO_CACHE=1
Environment=FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_DONT_RESET=1
"""


def give_clocks(site):
    """To servers and agents, which are started anew with them."""
    def act(name):
        unit = "hai-server" if name in SERVERS else "hai-agent"
        set_clock(site, name, 0)
        site[name].write(f"etc/systemd/system/{unit}.service.d/clock.conf", DROP_IN)
        site[name].run(
            f"systemctl daemon-reload; systemctl restart {unit}\n"
            f"grep -q libfaketime /proc/$(systemctl show {unit} --property=MainPID --value)/maps"
        )

    everywhere([*SERVERS, *NODES], act)


def set_clock(site, name, seconds):
    """From now on it is so many seconds ahead; less than 0: behind."""
    site[name].write("etc/hai-clock.new", f"{seconds:+d}\n")
    (site[name].root / "etc/hai-clock.new").rename(site[name].root / "etc/hai-clock")


def step(choose, seconds):
    def begin(site):
        site.stepped = choose(site)
        set_clock(site, site.stepped, seconds)

    return begin


def step_back(site):
    set_clock(site, site.stepped, 0)
