#!/usr/bin/env bash
# long.sh [--seeds 100000] [--goes-back 20000] [--host 2000] [--twice 500] [--first N] [--jobs 2] [--dir DIR] [--sim PROGRAM]
#
# Runs fresh chaos seeds, the first one from the clock, in pieces of 500 on so many cores, and appends the result to
# recorded_runs.txt (proof.py). Called again with the same --dir it goes on where it was ended. Failing seeds
# are listed at the end; `hai-sim chaos --seed N` shrinks one and tells its story. Exit status 1 if one failed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
plain=100000 goes_back=20000 host=2000 twice=500 jobs=2 first='' dir=$root/build/long sim=$root/build/release/bin/hai-sim
usage() { sed -n '2,6s/^# \{0,1\}//p' "$0"; }
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --seeds | --goes-back | --host | --twice | --first | --jobs | --dir | --sim)
      [ $# -ge 2 ] || { echo "long.sh: $1 needs a value" >&2; exit 2; } ;;&
    --seeds) plain=$2 ;;
    --goes-back) goes_back=$2 ;;
    --host) host=$2 ;;
    --twice) twice=$2 ;;
    --first) first=$2 ;;
    --jobs) jobs=$2 ;;
    --dir) dir=$2 ;;
    --sim) sim=$2 ;;
    *) echo "long.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
  esac
  shift 2
done
for number in "$plain" "$goes_back" "$host" "$twice" "$jobs" "${first:-1}"; do
  case $number in '' | *[!0-9]*) echo "long.sh: '$number' is no number" >&2; exit 2 ;; esac
done
[ -x "$sim" ] || { echo "long.sh: there is no $sim: build it, or name one with --sim" >&2; exit 2; }

digest=$("$here/proof.py" digest)
mkdir -p "$dir"
if [ -f "$dir/run" ]; then
  read -r begun_for first <"$dir/run"
  [ "$begun_for" = "$digest" ] || {
    echo "long.sh: $dir holds a run of other code ($begun_for, now $digest): remove it, or name another --dir" >&2
    exit 2
  }
  echo "going on with the run in $dir, first seed $first"
else
  # Runs that begin within minutes of each other must not overlap.
  first=${first:-$(($(date +%s) * 1000003 % 2000000000 + 1000))}
  echo "$digest $first" >"$dir/run"
  cp "$sim" "$dir/hai-sim"  # a build meanwhile must not change what is run
fi

piece=500
pieces_of() {  # KIND SEEDS OPTIONS…: a line for each piece that is not done: its log, first seed, count, options
  local kind=$1 seeds=$2 at=0 count
  shift 2
  while [ "$at" -lt "$seeds" ]; do
    count=$((seeds - at < piece ? seeds - at : piece))
    local log=$dir/$kind-$at.log
    grep -qs ' seeds, ' "$log" || echo "$log $((first + at)) $count${*:+ $*}"
    at=$((at + count))
  done
}
run_piece() {
  local log=$1 from=$2 count=$3 began=$SECONDS
  shift 3
  "$dir/hai-sim" chaos --first-seed "$from" --seeds "$count" "$@" >"$log.part" 2>/dev/null || true
  tail -n 1 "$log.part" | grep -q ' seeds, ' || { echo "seed $from to $((from + count - 1)): ended early" >>"$log.part"; }
  mv "$log.part" "$log"
  echo "$(basename "$log" .log): $(tail -n 1 "$log") ($((SECONDS - began)) s)"
}
export -f run_piece
export dir
began=$SECONDS
{
  pieces_of plain "$plain"
  pieces_of goes-back "$goes_back" --store-goes-back
  pieces_of host "$host" --host
  pieces_of twice "$twice" --twice
} | xargs -r -P "$jobs" -L 1 bash -c 'run_piece "$@"' run_piece

status=0
for kind in plain goes-back host twice; do
  logs=$(find "$dir" -name "$kind-*.log" | sort -V)
  [ -n "$logs" ] || continue
  # shellcheck disable=SC2086 # they are several files
  set -- $(cat $logs | awk -F'[ ,]+' '
    / seeds, / { seeds += $1; failed += $3; for (i = 4; i <= NF; ++i) { if ($i == "after") unknowable += $(i - 1); if ($i == "s") time += $(i - 1) } }
    / ended early$/ { ++failed }
    END { printf "%d %d %d %d", seeds, failed, unknowable, time }')
  echo "$kind: first seed $first, $1 seeds, $2 failed, $3 after a loss that could not be known; $4 s of a core"
  "$here/proof.py" record "$digest" "$kind" "$first" "$@"
  [ "$2" -eq 0 ] || {
    status=1
    # shellcheck disable=SC2086
    grep -hE '^seed ' $logs | grep -v ': after a loss that could not be known: ' | cut -c 1-200
  }
done
echo "in $((SECONDS - began)) s"
[ "$status" -ne 0 ] || rm -f "$dir/run"
exit "$status"
