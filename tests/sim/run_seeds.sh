#!/bin/sh
# run_seeds.sh HAI_SIM: replays every seed of seeds.txt; fails if one fails.
set -u
here=$(cd "$(dirname "$0")" && pwd)
failed=0
while IFS= read -r line; do
  arguments=${line%%#*}
  [ -n "$(printf '%s' "$arguments" | tr -d ' ')" ] || continue
  # shellcheck disable=SC2086 # they are several words
  "$1" chaos --seed $arguments </dev/null || failed=$((failed + 1))
done <"$here/seeds.txt"
echo "$failed failed"
[ "$failed" -eq 0 ]
