#!/bin/bash
# The script is written by another one.
# expect-state: succeeded
# expect-output: ^lr 0.01 on 1 node\(s\)$
for lr in 0.01; do
  sbatch <<EOT
#!/bin/bash
#SBATCH --job-name=heredoc-$lr
#SBATCH --gpus=1
#SBATCH --output=%x-%j.out
echo "lr $lr on \$SLURM_NNODES node(s)"
EOT
done
