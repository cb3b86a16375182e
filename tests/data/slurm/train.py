"""A training that only says where it is. One write, so that lines of many ranks stay whole."""

import os
import sys

rank = os.environ.get("RANK", os.environ.get("SLURM_PROCID"))
local = os.environ.get("LOCAL_RANK", os.environ.get("SLURM_LOCALID"))
world = os.environ.get("WORLD_SIZE")
gpus = os.environ["CUDA_VISIBLE_DEVICES"]
os.write(1, f"rank {rank}/{world} local {local} gpus [{gpus}] {' '.join(sys.argv[1:])}\n".encode())
