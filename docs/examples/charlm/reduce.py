"""The sum of all shards' gradients, the same bits on every rank.

Floating point addition depends on order, so rank 0 adds in shard order, whichever rank computed a
shard and whenever it arrived. The same exchange carries the suspend decision: all ranks stop at one
step.
"""

from operator import add

from . import model
from .peers import PeerLost


def all_reduce(peers, rank, step, shards, suspend):
    """`shards` is {shard: (gradient, loss)} of this rank; (gradient sum, loss sum, suspend) of all
    ranks.

    `suspend` comes back true if it was true on any rank: requests don't reach all nodes in one
    instant."""
    if rank == 0:
        return _reduce_here(peers, step, shards, suspend)
    header = {
        "step": step,
        "suspend": suspend,
        "shards": list(shards),
        "losses": [loss for _, loss in shards.values()],
    }
    peers[0].send(header, b"".join(model.to_bytes(gradient) for gradient, _ in shards.values()))
    header, block = peers[0].receive()
    return model.from_bytes(block), header["loss"], header["suspend"]


def _reduce_here(peers, step, shards, suspend):
    for peer in peers:
        header, block = peer.receive()
        if header["step"] != step:
            raise PeerLost(f"{peer.name} is at step {header['step']}, rank 0 at {step}")
        floats = model.from_bytes(block)
        size = len(floats) // max(1, len(header["shards"]))
        for i, (shard, loss) in enumerate(zip(header["shards"], header["losses"])):
            shards[shard] = (floats[i * size:(i + 1) * size], loss)
        suspend = suspend or header["suspend"]
    total, loss_sum = shards[0]
    for shard in range(1, len(shards)):
        gradient, loss = shards[shard]
        total = list(map(add, total, gradient))
        loss_sum += loss
    block = model.to_bytes(total)
    for peer in peers:
        peer.send({"loss": loss_sum, "suspend": suspend}, block)
    return total, loss_sum, suspend
