#!/bin/sh
# run_mutants.sh [NAME…]: plants each bug of mutants.txt in a copy of the tree, builds it, and says who caught it: the
# tests (model, plan, control, agent core, properties, scenarios) or the simulation (SEEDS, default 100), which is asked
# about those that survive the tests; about all with BOTH=1. Exit status 1 if a bug survives both. BUILD_DIR keeps the
# copy's build between runs; JOBS is for ninja.
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
copy=${BUILD_DIR:-$(mktemp -d)}
tree=$copy/tree
build=$copy/build
tests="model_test plan_test control_test agent_core_test plan_property_test"
mkdir -p "$tree"
(cd "$root" && tar -c --exclude=./build --exclude=./.git --exclude=node_modules .) | tar -x -C "$tree"
# An earlier run may have left objects of its last mutant, newer than the sources.
grep -v '^#' "$here/mutants.txt" | cut -s -d '|' -f 2 | sort -u | while read -r file; do touch "$tree/$file"; done
if [ ! -f "$build/build.ninja" ]; then
  cmake -G Ninja -S "$tree" -B "$build" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g0" \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache)" >"$copy/cmake.log" 2>&1 || { cat "$copy/cmake.log"; exit 2; }
fi
make() {
  ninja -C "$build" -j"${JOBS:-1}" hai-sim scenario_test $tests >"$copy/ninja.log" 2>&1
}
program() {
  find "$build" -type f -name "$1" -perm -u+x | head -n 1
}
tests_pass() {
  for test in $tests; do
    timeout 120 "$(program "$test")" --gtest_brief=1 >"$copy/test.log" 2>&1 || { caught=$test; return 1; }
  done
  for scenario in "$tree"/tests/scenario/*.scn; do
    timeout 60 "$(program scenario_test)" "$scenario" >"$copy/test.log" 2>&1 ||
      { caught=$(basename "$scenario" .scn); return 1; }
  done
}
chaos_passes() {
  timeout 300 "$(program hai-sim)" chaos --seeds "${SEEDS:-100}" >"$copy/chaos.log" 2>&1 && return 0
  caught=$(grep -m 1 -oE '(CHECK failed|[a-z ]+: .*)' "$copy/chaos.log" | cut -c 1-60)
  return 1
}

make || { echo "the tree does not build:"; tail -n 20 "$copy/ninja.log"; exit 2; }
tests_pass || { echo "the tests fail without any mutant: $caught"; exit 2; }
chaos_passes || { echo "the simulation fails without any mutant: $caught"; exit 2; }
survivors=0
while IFS='|' read -r name file script; do
  name=$(echo "$name" | tr -d ' ')
  file=$(echo "$file" | tr -d ' ')
  case $name in '' | '#'*) continue ;; esac
  if [ $# -gt 0 ]; then
    case " $* " in *" $name "*) ;; *) continue ;; esac
  fi
  cp "$tree/$file" "$copy/original"
  sed "$(echo "$script" | sed 's/^ //')" "$copy/original" >"$tree/$file"
  if cmp -s "$copy/original" "$tree/$file"; then
    printf '%-26s does not apply to %s any more\n' "$name" "$file"
    survivors=$((survivors + 1))
  elif ! make; then
    printf '%-26s does not compile: %s\n' "$name" "$(grep -m 1 error: "$copy/ninja.log")"
    survivors=$((survivors + 1))
  else
    by_test='' by_chaos=''
    tests_pass || by_test=$caught
    if [ -z "$by_test" ] || [ -n "${BOTH:-}" ]; then
      caught=''
      chaos_passes || by_chaos=${caught:-crash}
    fi
    printf '%-26s tests: %-36s chaos: %s\n' "$name" "${by_test:--}" "${by_chaos:--}"
    [ -z "$by_test$by_chaos" ] && survivors=$((survivors + 1))
  fi
  cp "$copy/original" "$tree/$file"
done <"$here/mutants.txt"
echo "$survivors survive"
[ -n "${BUILD_DIR:-}" ] || rm -rf "$copy"
[ "$survivors" -eq 0 ]
