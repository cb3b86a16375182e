#!/usr/bin/env bash
# hai and Slurm through the same scenarios on this machine, in turn; prints one table (Markdown).
#   side_by_side.sh [OUT_DIR]      about 30 minutes a round; needs root and Debian's Slurm packages
# ROUNDS (1), SIDE_BY_SIDE_NODES (1250), SIDE_BY_SIDE_JOBS (10000); HAI_BIN says where the programs are.
# What each scenario is: docs/performance.md. Slurm runs below /tmp, in namespaces of its own.
set -euo pipefail
here=$(cd "$(dirname "$0")/side_by_side" && pwd)
out=$(realpath -m "${1:-side_by_side.out}")
rounds=${ROUNDS:-1}
nodes=${SIDE_BY_SIDE_NODES:-1250}
jobs=${SIDE_BY_SIDE_JOBS:-10000}
real_nodes=64 real_jobs=1000
mkdir -p "$out"

slurm() {  # NODES JOBS SECONDS SCENARIOS FILE
  SLURMBENCH_NODES=$1 SLURMBENCH_JOBS=$2 SLURMBENCH_S2_SECONDS=$3 "$here/slurm.sh" "$4" >"$5" 2>"$5.log" ||
    echo "slurm $4 ended with code $?: see $5.log" >&2
}

for round in $(seq "$rounds"); do
  echo "round $round: hai" >&2
  SIDE_BY_SIDE_NODES=$nodes SIDE_BY_SIDE_JOBS=$jobs \
    SIDE_BY_SIDE_REAL_NODES=$real_nodes SIDE_BY_SIDE_REAL_JOBS=$real_jobs \
    python3 -B "$here/hai_scenarios.py" >"$out/hai-$round.jsonl" 2>"$out/hai-$round.log" ||
    echo "hai_scenarios.py ended with code $?: see $out/hai-$round.log" >&2
  echo "round $round: Slurm" >&2
  slurm "$nodes" "$jobs" 1,5 "" "$out/slurm-$round.jsonl"
  slurm "$nodes" "$jobs" 0,0 S2 "$out/slurm-ends-at-once-$round.jsonl"
  slurm "$real_nodes" "$real_jobs" 0,0 S2 "$out/slurm-real-$round.jsonl"
done
python3 -B "$here/table.py" "$out" | tee "$out/table.md"
