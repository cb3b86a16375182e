"""The world's network: each host is a network namespace on one bridge, and any direction between any
two hosts can be cut, silently, as a broken switch would: packets leave and never arrive.

A cut is a neighbour entry that points at an address nobody has; so it needs no firewall, which many
kernels lack, and packets that are on their way take it at once.
"""

import subprocess
import threading

SUBNET = "10.77.0"
NOBODY = "02:00:00:00:ff:ff"
FABRIC = "fabric"


class Network:
    def __init__(self):
        self.numbers = {}  # host -> last byte of its address
        self.cuts = {}  # (from, to) -> how many faults cut it now
        self.lock = threading.Lock()

    def build(self, hosts):
        """The first one is this process's own namespace: clients live there."""
        self.numbers = {host: number for number, host in enumerate(hosts, start=1)}
        subprocess.run(["ip", "netns", "add", FABRIC], check=True)
        in_fabric = ["link add br0 type bridge forward_delay 0", "link set br0 up"]
        batch(FABRIC, in_fabric)
        own = hosts[0]
        for host, number in self.numbers.items():
            if host != own:
                subprocess.run(["ip", "netns", "add", host], check=True)
            peer = "" if host == own else f" netns {host}"
            if host == own:
                batch(None, [f"link add v{number} netns {FABRIC} type veth peer name eth0"])
            else:
                batch(FABRIC, [f"link add v{number} type veth peer name eth0{peer}"])
            batch(FABRIC, [f"link set v{number} master br0 up"])
        self.own = own
        for host, number in self.numbers.items():
            batch(
                self.namespace(host),
                [
                    "link set lo up",
                    f"link set eth0 address {mac(number)} up",
                    f"addr add {SUBNET}.{number}/24 dev eth0",
                    *[
                        f"neigh replace {SUBNET}.{other} lladdr {mac(other)} nud permanent dev eth0"
                        for other in self.numbers.values()
                        if other != number
                    ],
                ],
            )

    def namespace(self, host):
        return None if host == self.own else host

    def address(self, host):
        return f"{SUBNET}.{self.numbers[host]}"

    def cut(self, senders, receivers):
        """Nothing that `senders` send reaches `receivers` any more. Cuts add up."""
        self.change(senders, receivers, 1)

    def heal(self, senders, receivers):
        self.change(senders, receivers, -1)

    def change(self, senders, receivers, step):
        with self.lock:
            for sender in senders:
                lines = []
                for receiver in receivers:
                    if sender == receiver:
                        continue
                    count = self.cuts.get((sender, receiver), 0) + step
                    self.cuts[(sender, receiver)] = count
                    number = self.numbers[receiver]
                    target = NOBODY if count > 0 else mac(number)
                    lines.append(
                        f"neigh replace {SUBNET}.{number} lladdr {target} nud permanent dev eth0"
                    )
                if lines:
                    batch(self.namespace(sender), lines)


def mac(number):
    return f"02:00:00:00:00:{number:02x}"


def batch(namespace, lines):
    inside = ["-n", namespace] if namespace else []
    subprocess.run(
        ["ip", *inside, "-batch", "-"],
        input="\n".join(lines) + "\n",
        text=True,
        check=True,
        capture_output=True,
    )
