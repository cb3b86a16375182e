#!/bin/bash
[ $SLURM_RESTART_COUNT = 0 ] || exit 0
trap 'echo told; exit 0' TERM
srun true
echo up
sleep 600 &
wait
