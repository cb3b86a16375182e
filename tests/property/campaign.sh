#!/usr/bin/env bash
# campaign.sh [--seeds 5000] [--first N] [--jobs 2] [--bin DIR] [--filter PATTERN]
#
# Runs the property tests over fresh random worlds, so many for each test, the first seed from the clock, and prints
# how many worlds each looked at and which seeds failed. One of them again: HAI_FIRST_SEED=N HAI_SEEDS=1
# plan_property_test --gtest_filter=TEST. Exit status 1 if one failed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
seeds=5000 first='' jobs=2 bin=$here/../../build/release/bin filter='*'
usage() { sed -n '2,6s/^# \{0,1\}//p' "$0"; }
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --seeds | --first | --jobs | --bin | --filter)
      [ $# -ge 2 ] || { echo "campaign.sh: $1 needs a value" >&2; exit 2; } ;;&
    --seeds) seeds=$2 ;;
    --first) first=$2 ;;
    --jobs) jobs=$2 ;;
    --bin) bin=$2 ;;
    --filter) filter=$2 ;;
    *) echo "campaign.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
  esac
  shift 2
done
for number in "$seeds" "$jobs" "${first:-1}"; do
  case $number in '' | *[!0-9]*) echo "campaign.sh: '$number' is no number" >&2; exit 2 ;; esac
done
# Campaigns that begin within minutes of each other must not overlap.
first=${first:-$(($(date +%s) * 1000003 % 2000000000 + 10000))}
export HAI_FIRST_SEED=$first HAI_SEEDS=$seeds
echo "first seed $first, $seeds worlds for each test"

tests_of() {  # PROGRAM: a line "PROGRAM SUITE.TEST" for each of its tests
  [ -x "$bin/$1" ] || { echo "campaign.sh: there is no $bin/$1: build it, or name its folder with --bin" >&2; exit 2; }
  "$bin/$1" --gtest_list_tests --gtest_filter="$filter" |
    awk -v program="$bin/$1" '/^[^ ]+\.$/ { suite = $1 } /^  / { print program, suite $1 }'
}
run_test() {
  local log status=0
  log=$(mktemp)
  "$1" --gtest_filter="$2" --gtest_brief=1 >"$log" 2>&1 || status=1
  # One by one what failed, unless it is very much: the seeds are in the last line.
  [ "$status" -eq 0 ] || grep -v ' worlds from seed ' "$log" | head -n 60
  grep ' worlds from seed ' "$log" || echo "$2: counts no worlds"
  rm -f "$log"
  return "$status"
}
export -f run_test
began=$SECONDS status=0
tests=$(tests_of plan_property_test; tests_of health_property_test)
echo "$tests" | xargs -r -P "$jobs" -L 1 bash -c 'run_test "$@"' run_test || status=1
echo "in $((SECONDS - began)) s"
exit "$status"
