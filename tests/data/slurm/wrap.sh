#!/bin/bash
# One line without a script.
# expect-state: succeeded
# expect-output: ^rank 0/None local 0 gpus \[\d,\d\] wrapped$
sbatch --job-name=wrap --gpus=2 -t 5 -o %x-%j.out --wrap="srun python3 train.py wrapped"
