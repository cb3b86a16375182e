"""The ranks of one attempt, joined in a star through TCP: rank 0 listens at
MASTER_ADDR:MASTER_PORT.

A message is a JSON header and a block of bytes. Everything has a deadline; a peer that dies or
falls silent raises PeerLost, since a data-parallel job can't go on without one of its ranks.
"""

import json
import socket
import struct
import time

HEADER_BYTES_MAX = 1 << 20
BLOCK_BYTES_MAX = 1 << 28
RETRY_SECONDS = 0.1


class PeerLost(Exception):
    pass


class Peer:
    def __init__(self, connection, name):
        self.connection, self.name = connection, name
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, header, block=b""):
        text = json.dumps(header).encode()
        try:
            self.connection.sendall(struct.pack("!II", len(text), len(block)) + text + block)
        except OSError as error:
            raise PeerLost(f"lost {self.name}: {error}") from error

    def receive(self):
        try:
            header_size, block_size = struct.unpack("!II", self._read(8))
            if header_size > HEADER_BYTES_MAX or block_size > BLOCK_BYTES_MAX:
                raise ValueError(f"sent {header_size} + {block_size} bytes: not one of us")
            return json.loads(self._read(header_size)), self._read(block_size)
        except (OSError, ValueError) as error:
            raise PeerLost(f"lost {self.name}: {error}") from error

    def _read(self, size):
        data = bytearray()
        while len(data) < size:
            chunk = self.connection.recv(min(size - len(data), 1 << 20))
            if not chunk:
                raise OSError("connection closed")
            data += chunk
        return bytes(data)

    def close(self):
        self.connection.close()


def join(rank, world_size, address, port, identity, connect_seconds, silence_seconds):
    """All the ranks this one talks to: for rank 0 the others in rank order, for the others rank 0.

    `identity` names job and attempt: on one machine a rank of an attempt that is just ending may
    still knock at, or listen on, the same port."""
    if world_size == 1:
        return []
    deadline = time.monotonic() + connect_seconds
    if rank == 0:
        peers = _gather(world_size, address, port, identity, deadline)
    else:
        peers = [_reach(rank, world_size, address, port, identity, deadline)]
    for peer in peers:
        peer.connection.settimeout(silence_seconds)
    return peers


def _gather(world_size, address, port, identity, deadline):
    peers = {}
    with _listen(address, port, world_size, deadline) as listener:
        while len(peers) < world_size - 1:
            missing = [r for r in range(1, world_size) if r not in peers]
            listener.settimeout(_left(deadline, f"waiting for ranks {missing} on port {port}"))
            try:
                connection, _ = listener.accept()
            except socket.timeout:
                continue
            rank = _welcome(connection, world_size, identity, peers)
            if rank is None:
                connection.close()
    return [peers[rank] for rank in sorted(peers)]


def _welcome(connection, world_size, identity, peers):
    """The rank now in `peers`, or None for a stranger. A stranger must not hold up the others for
    long."""
    connection.settimeout(2.0)
    peer = Peer(connection, "a stranger")
    try:
        hello, _ = peer.receive()
        rank = hello.get("rank") if isinstance(hello, dict) else None
        wanted = {"identity": identity, "world_size": world_size, "rank": rank}
        if hello != wanted or not isinstance(rank, int) or not 0 < rank < world_size:
            peer.send({"ok": False, "error": f"this is {identity} with {world_size} ranks"})
            return None
        # A rank that lost its first connection before the answer knocks again: the newer one is the
        # live one.
        if rank in peers:
            peers[rank].close()
        peer.name = f"rank {rank}"
        peer.send({"ok": True})
        peers[rank] = peer
        return rank
    except PeerLost:
        return None


def _listen(address, port, backlog, deadline):
    # A name may mean another address on its own machine than elsewhere (127.0.1.1): then listen on
    # all.
    where = address if address == "localhost" or address.startswith("127.") else ""
    while True:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((where, port))
            listener.listen(backlog)
            return listener
        except OSError as error:  # The rank 0 of the attempt before may need a moment to go.
            listener.close()
            _pause(deadline, f"binding port {port}: {error}")


def _reach(rank, world_size, address, port, identity, deadline):
    why = "not tried"
    while True:
        left = _left(deadline, f"connecting to rank 0 at {address}:{port}: {why}")
        connection = None
        try:
            connection = socket.create_connection((address, port), timeout=min(left, 5.0))
            # With no listener yet, a loopback connection can meet itself: source port = target
            # port.
            if connection.getsockname() == connection.getpeername():
                raise OSError("nobody listens")
            connection.settimeout(min(left, 5.0))
            peer = Peer(connection, "rank 0")
            peer.send({"identity": identity, "world_size": world_size, "rank": rank})
            answer, _ = peer.receive()
            if isinstance(answer, dict) and answer.get("ok") is True:
                return peer
            why = f"refused: {answer}"
        except (OSError, PeerLost) as error:
            why = error
        if connection is not None:
            connection.close()
        _pause(deadline, f"connecting to rank 0 at {address}:{port}: {why}")


def _left(deadline, doing):
    left = deadline - time.monotonic()
    if left <= 0:
        raise PeerLost(f"gave up {doing}")
    return left


def _pause(deadline, doing):
    time.sleep(min(RETRY_SECONDS, _left(deadline, doing)))
