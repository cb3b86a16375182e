#!/bin/bash
# What a job sees: its place, its peers, its GPUs.
echo "hello from rank ${RANK:-0} of ${WORLD_SIZE:-1} on ${HAI_NODE_NAME:-$(hostname)}"
echo "job ${HAI_JOB_ID:-none}, attempt ${HAI_ATTEMPT:-0}, zone ${HAI_ZONE:-none}, leaf ${HAI_LEAF:-none}"
echo "GPUs ${CUDA_VISIBLE_DEVICES:-none}, rank 0 is at ${MASTER_ADDR:-localhost}:${MASTER_PORT:-0}"
