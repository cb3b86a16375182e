#!/bin/sh
# run_mutants.sh [NAME…]: plants each bug of mutants.txt in a copy of the tree, builds it, and says who catches it: the
# simulation (the first of SEEDS seeds that fails; default 100, 0 = not asked), the explorer if EXPLORE names models of it ("gang fence",
# each for 100 s at most), and of those that survive these, or of all with BOTH=1, the scenarios and the tests (model, plan, control, agent core, properties). Exit status 1 if a bug survives all, or if one
# can't be planted any more. BUILD_DIR keeps the copy and its build between runs; JOBS is for ninja; TESTS=no leaves the
# survivors of the simulation unasked.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
copy=${BUILD_DIR:-$(mktemp -d)}
tree=$copy/tree
build=$copy/build
tests="agent_core_test control_test model_test plan_test plan_property_test"
mkdir -p "$tree"
(cd "$root" && tar -c --exclude=./build --exclude=./.git --exclude=node_modules .) | tar -x -C "$tree"
export CCACHE_BASEDIR="$copy" CCACHE_NOHASHDIR=1

# Calls $1 with name, file and sed script of each mutant asked for.
each_mutant() {
  visit=$1
  shift
  while IFS='|' read -r name file script; do
    name=$(printf '%s' "$name" | tr -d ' ')
    file=$(printf '%s' "$file" | tr -d ' ')
    script=$(printf '%s' "$script" | sed 's/^ //')
    case $name in '' | '#'*) continue ;; esac
    if [ $# -gt 0 ]; then
      case " $* " in *" $name "*) ;; *) continue ;; esac
    fi
    $visit </dev/null
  done <"$here/mutants.txt"
}
check_that_it_applies() {
  # An earlier run may have left objects of its last mutant, newer than the sources.
  [ -f "$tree/$file" ] && touch "$tree/$file"
  if [ ! -f "$tree/$file" ] || sed "$script" "$tree/$file" | cmp -s "$tree/$file" -; then
    printf '%-26s does not apply to %s any more\n' "$name" "$file"
    unfit=$((unfit + 1))
  fi
}
make() {
  ninja -C "$build" -j"${JOBS:-1}" "$@" >"$copy/ninja.log" 2>&1
}
program() {
  find "$build" -type f -name "$1" -perm -u+x | head -n 1
}
tests_pass() {
  for test in $tests; do
    make "$test" || { caught="does not compile"; return 1; }
    timeout 120 "$(program "$test")" --gtest_brief=1 >"$copy/test.log" 2>&1 || { caught=$test; return 1; }
  done
  make scenario_test || { caught="does not compile"; return 1; }
  for scenario in "$tree"/tests/scenario/*.scn; do
    timeout 60 "$(program scenario_test)" "$scenario" >"$copy/test.log" 2>&1 ||
      { caught=$(basename "$scenario" .scn); return 1; }
  done
}
chaos_passes() {
  [ "${SEEDS:-100}" -gt 0 ] || return 0
  timeout 600 "$(program hai-sim)" chaos --fail-fast --seeds "${SEEDS:-100}" >"$copy/chaos.log" 2>&1 && return 0
  seed=$(grep -m 1 -oE '^seed [0-9]+' "$copy/chaos.log")
  caught="$(grep -m 1 -oE '(CHECK failed|[a-z -]+: .*)' "$copy/chaos.log" | cut -c 1-70) ${seed:+($seed)}"
  return 1
}
explorer_passes() {
  [ -n "${EXPLORE:-}" ] || return 0
  # A space that was not exhausted (2) is no bug.
  "$(program hai-sim)" explore $EXPLORE --quick --max-seconds 100 >"$copy/explore.log" 2>&1
  case $? in 0 | 2) return 0 ;; esac
  caught="explorer: $(grep -m 1 -oE '(CHECK failed|VIOLATION: .*)' "$copy/explore.log" | cut -c 1-70)"
  return 1
}
judge() {
  cp "$tree/$file" "$copy/original"
  sed "$script" "$copy/original" >"$tree/$file"
  by_test='' by_chaos=''
  if ! make hai-sim; then
    printf '%-26s does not compile: %s\n' "$name" "$(grep -m 1 error: "$copy/ninja.log")"
    unfit=$((unfit + 1))
  else
    chaos_passes || by_chaos=$caught
    [ -n "$by_chaos" ] || explorer_passes || by_chaos=$caught
    if [ "${TESTS:-yes}" = yes ] && { [ -z "$by_chaos" ] || [ -n "${BOTH:-}" ]; }; then
      tests_pass || by_test=$caught
    fi
    printf '%-26s chaos: %s | tests: %s\n' "$name" "${by_chaos:--}" "${by_test:--}"
    [ -n "$by_chaos" ] && in_chaos=$((in_chaos + 1))
    [ -z "$by_test$by_chaos" ] && survivors=$((survivors + 1))
    planted=$((planted + 1))
  fi
  cp "$copy/original" "$tree/$file"
}

planted=0 in_chaos=0 survivors=0 unfit=0
each_mutant check_that_it_applies "$@"
[ "$unfit" -eq 0 ] || exit 2
if [ ! -f "$build/build.ninja" ]; then
  cmake -G Ninja -S "$tree" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g0" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache)" >"$copy/cmake.log" 2>&1 || { cat "$copy/cmake.log"; exit 2; }
fi
make hai-sim || { echo "the tree does not build:"; tail -n 20 "$copy/ninja.log"; exit 2; }
chaos_passes || { echo "the simulation fails without any mutant: $caught"; exit 2; }
if [ "${TESTS:-yes}" = yes ]; then
  tests_pass || { echo "the tests fail without any mutant: $caught"; exit 2; }
fi
each_mutant judge "$@"
echo "$planted planted, $in_chaos caught by the simulation, $survivors survive"
[ -n "${BUILD_DIR:-}" ] || rm -rf "$copy"
[ "$survivors" -eq 0 ] && [ "$unfit" -eq 0 ]
