"""What train.py is told: parameters by the user, its place by the platform."""

import argparse
import os


def arguments(folder):
    parser = argparse.ArgumentParser(description="Trains a small character language model.")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--step-seconds", type=float, default=0.0, help="least time of a step")
    parser.add_argument("--checkpoint-every", type=int, default=50, metavar="STEPS")
    parser.add_argument("--checkpoint-dir", help="default: checkpoints/NAME-ID in the workspace")
    parser.add_argument("--hidden", type=int, default=16)
    parser.add_argument("--shard-examples", type=int, default=6, help="examples per shard and step")
    parser.add_argument("--rate", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", default=os.path.join(folder, "corpus.txt"))
    parser.add_argument("--print-every", type=int, default=10, metavar="STEPS")
    parser.add_argument("--result", help="where rank 0 writes steps, loss and hash at the end")
    parser.add_argument("--loss-curve", help="where rank 0 writes one line per step")
    parser.add_argument("--ledger", help="where each rank notes its starts and ends")
    parser.add_argument("--connect-seconds", type=float, default=60.0)
    parser.add_argument("--silence-seconds", type=float, default=120.0)
    options = parser.parse_args()
    if options.checkpoint_dir is None:
        # The id, too: a later job of the same name must not find itself already finished.
        job = f"{from_environment('train', 'HAI_JOB_NAME')}-{from_environment('0', 'HAI_JOB_ID')}"
        options.checkpoint_dir = os.path.join("checkpoints", job)
    return options


def rank_and_world_size():
    """RANK and WORLD_SIZE, except in env_style torch or slurm with one process per node, which
    leaves them unset."""
    rank = from_environment("0", "RANK", "NODE_RANK", "SLURM_NODEID", "HAI_NODE_RANK")
    world_size = from_environment("1", "WORLD_SIZE", "NNODES", "SLURM_NNODES", "HAI_NNODES")
    return int(rank), int(world_size)


def meeting_point():
    """Where rank 0 listens, and who may come: the ranks of this very attempt."""
    job, attempt = from_environment("-", "HAI_JOB_ID"), from_environment("-", "HAI_ATTEMPT")
    address = from_environment("127.0.0.1", "MASTER_ADDR", "MASTER_IP")
    return address, int(from_environment("29510", "MASTER_PORT")), f"job {job} attempt {attempt}"


def from_environment(default, *names):
    """The first that is set and not empty."""
    return next((os.environ[name] for name in names if os.environ.get(name)), default)
