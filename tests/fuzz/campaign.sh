#!/usr/bin/env bash
# Coverage-guided campaigns: builds the fuzzers with clang, AddressSanitizer and UBSan, runs each for
# some minutes from the corpus that is kept, and says what each has done. What reaches new code is kept,
# minimised, in tests/fuzz/corpus. Fails on a crash, a leak, an input that takes too long or too much
# memory; the input is then in the folder of findings, and `BIN/fuzz_target_NAME FILE` repeats it. In the
# end what is kept is played to a real server for as long, which must give its memory back (within a fifth).
#
# usage: tests/fuzz/campaign.sh [TIME [TARGET...]]   (minutes each, or 5s; 30, all targets)
#   BUILD=DIR another build folder; JOBS=N compilers at once; KEEP=0 leaves the corpus as it is
#   MEMORY=0 no real server; MEMORY=DIR the build folder with its programs (build/release, built if need be)
set -euo pipefail
cd "$(dirname "$0")/../.."
time=${1:-30}
shift || true
[[ $time =~ ^[1-9][0-9]*s?$ ]] || { echo "TIME: minutes, or seconds as 5s; is $time" >&2; exit 2; }
case $time in *s) seconds=${time%s} ;; *) seconds=$((time * 60)) ;; esac
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
  targets=(spec config slurm certificate peer rank kept report http call)
fi
build=$(realpath -m "${BUILD:-build/fuzz}")
corpus=$PWD/tests/fuzz/corpus
findings=$build/findings
memory_max_mb=2048   # of the whole process; ASan's own share is in it
seconds_max=20       # of one input, on a busy machine
input_max=65536      # bytes
kept_max_kb=100      # that one campaign adds to the corpus of a target
kept_max_files=40    # the same

export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
export ASAN_OPTIONS=quarantine_size_mb=32:allocator_may_return_null=1:detect_leaks=1
export UBSAN_OPTIONS=print_stacktrace=1
# gRPC's and protobuf's libraries are built without the sanitizers: their containers carry no marks.
export ASAN_OPTIONS=$ASAN_OPTIONS:detect_container_overflow=0
cmake --preset fuzz -B "$build" --log-level=WARNING >/dev/null
ninja -C "$build" -j"${JOBS:-$(nproc)}" "${targets[@]/#/fuzz_target_}" | tail -1

# A number of libFuzzer's last words: stat::NAME.
stat_of() { sed -n "s/^stat::$2: *//p" "$1" | tail -1; }

# What covers the same with the fewest and smallest inputs; of an odd target no more than is allowed.
keep() {
  local target=$1 grown=$2 kept
  kept=$(mktemp -d)
  "$build/bin/fuzz_target_$target" -merge=1 -rss_limit_mb=$memory_max_mb "$kept" "$corpus/$target" "$grown" \
    >"$findings/$target.merge.log" 2>&1 || { rm -rf "$kept"; return 0; }
  local size=0 files=0 file
  # Of all that is new some, large and small.
  while read -r bytes file; do
    [ -e "$corpus/$target/$(basename "$file")" ] && continue
    [ $(((size + bytes) / 1024)) -lt $kept_max_kb ] && [ "$bytes" -le 4096 ] && [ $files -lt $kept_max_files ] || continue
    size=$((size + bytes))
    files=$((files + 1))
    cp "$file" "$corpus/$target/"
  done < <(find "$kept" -type f -printf '%s %p\n' | shuf)
  rm -rf "$kept"
}

failed=0
printf '%-12s %12s %9s %9s %8s %9s %s\n' target executions 'per sec' edges inputs 'peak MB' findings
for target in "${targets[@]}"; do
  grown=$build/grown/$target
  mkdir -p "$grown" "$findings" "$corpus/$target"
  log=$findings/$target.log
  "$build/bin/fuzz_target_$target" -max_total_time=$seconds -timeout=$seconds_max \
    -rss_limit_mb=$memory_max_mb -max_len=$input_max -print_final_stats=1 -use_value_profile=0 \
    -artifact_prefix="$findings/$target-" "$grown" "$corpus/$target" >"$log" 2>&1 && found=none || found=FOUND
  [ $found = none ] || failed=1
  edges=$(grep -o 'cov: [0-9]*' "$log" | tail -1 | tr -dc 0-9 || true)  # none: it fell at once
  inputs=$(grep -o 'corp: [0-9]*' "$log" | tail -1 | tr -dc 0-9 || true)
  printf '%-12s %12s %9s %9s %8s %9s %s\n' "$target" "$(stat_of "$log" number_of_executed_units)" \
    "$(stat_of "$log" average_exec_per_sec)" "${edges:--}" "${inputs:--}" \
    "$(stat_of "$log" peak_rss_mb)" "$([ $found = none ] && echo none || echo "see $log")"
  if [ $found = none ] && [ "${KEEP:-1}" = 1 ]; then keep "$target" "$grown"; fi
done

memory=${MEMORY:-build/release}
if [ "$memory" != 0 ]; then
  log=$findings/memory.log
  [ -e "$memory/build.ninja" ] || cmake --preset release -B "$memory" --log-level=WARNING >/dev/null
  ninja -C "$memory" -j"${JOBS:-$(nproc)}" hai-server hai-agent hai-shim hai | tail -1
  bin=$(realpath "$memory")/bin
  if (cd tests/e2e && HAI_MEMORY_SECONDS=$seconds HAI_BIN=$bin python3 -B -m unittest -v memory_test) >"$log" 2>&1; then
    echo "memory of a server: given back ($(grep -m1 -o '[0-9]* MB before.*after [0-9]* s' "$log" || echo "see $log"))"
  else
    failed=1
    echo "memory of a server: NOT GIVEN BACK, see $log"
  fi
fi
exit $failed
