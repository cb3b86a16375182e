#!/bin/bash
# Each job begins when the one before has succeeded.
# expect-state: succeeded
# expect-output: ^after the first$
first=$(sbatch --parsable --gpus=1 -J chain-1 -o %x-%j.out --wrap="touch chain-$$")
sbatch --gpus=1 -J chain-2 -o %x-%j.out --dependency=afterok:$first --wrap="[ -e chain-$$ ] && echo after the first"
