#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests. The last line is the result:
#   tests: 812 passed, 0 failed, 812 in all, in 3 min 12 s
# usage: tests/run.sh [ctest options, e.g. -R e2e]. PRESET=NAME and BUILD=DIR choose another build.
set -euo pipefail
cd "$(dirname "$0")/.."
began=$SECONDS
preset=${PRESET:-release}
build=$(realpath -m "${BUILD:-build/$preset}")
jobs=$(nproc)
# Tests of whole clusters wait more than they work.
tests_at_once=$((jobs * 2))
# So that a checkout elsewhere finds the same objects in the cache.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

step() { printf '\n=== %s (after %d s)\n' "$1" $((SECONDS - began)); }
finish() {  # The result is one line and the last, whatever happened.
  trap - EXIT
  local seconds=$((SECONDS - began))
  printf '\ntests: %s, in %d min %d s\n' "$2" $((seconds / 60)) $((seconds % 60))
  exit "$1"
}

stage="installing packages"
trap 'finish 1 "none ran, $stage failed"' EXIT
step "$stage"
deploy/install_packages.sh --tests

stage="configuring"
step "$stage: preset $preset in $build"
cmake --preset "$preset" -B "$build" --log-level=WARNING >/dev/null

stage="building"
step "$stage: ninja -j$jobs"
if [ -t 1 ]; then
  ninja -C "$build" -j"$jobs"  # has its own moving line
else
  ninja -C "$build" -j"$jobs" | awk '!/^\[/ || NR % 25 == 1 { print; fflush() }'
fi

# Tests open shells of root's, and kill some. What this machine's start files do must not decide them:
# `pyenv init` waits a minute in each shell for a lock that a killed one has left.
without_start_files() {
  if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
    unshare --mount sh -c 'for file in ~/.bashrc ~/.profile ~/.bash_profile ~/.bash_login; do
        [ ! -f "$file" ] || mount --bind /dev/null "$file"
      done
      exec "$@"' sh "$@"
  else
    "$@"
  fi
}

stage="testing"
step "$stage: ctest -j$tests_at_once"
report=$build/tests.xml
rm -f "$report"
without_start_files ctest --test-dir "$build" -j"$tests_at_once" --output-on-failure --no-tests=error \
  --output-junit "$report" "$@" && code=0 || code=$?

# ctest's own summary stands above the list of failures, and the output of one that failed far above
# that; a reader wants what went wrong and the counts at the end.
counts=$(python3 - "$report" <<'PYTHON'
import re
import sys
import xml.etree.ElementTree as tree

suite = tree.parse(sys.argv[1]).getroot()
number = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "skipped", "disabled")}
left_out = number["skipped"] + number["disabled"]
passed = number["tests"] - number["failures"] - left_out
text = f"{passed} passed, {number['failures']} failed"
if left_out:
    text += f", {left_out} skipped"
print(f"{text}, {number['tests']} in all")
telling = re.compile(r"error|fail|expect|actual|assert|exception|timed? ?out|signal|^of: |^at ", re.I)
for test in suite.iter("testcase"):
    if test.get("status") != "fail":
        continue
    # CTest writes the bytes that XML may not hold as words.
    output = re.sub(r"(\x1b|\[NON-XML-CHAR-0x1B\])\[[0-9;]*m", "", test.findtext("system-out") or "")
    output = output.splitlines()
    lines = [line.rstrip()[:160] for line in output if line.strip()]
    # A Python test sums up at its end; what its programs said may stand for pages before that.
    # So does Vitest, and what both say there (values that differ, a log) has no word in common.
    ends = ("======", "⎯")
    summary = next((at for at, line in enumerate(lines) if line.lstrip().startswith(ends)), None)
    lines = lines[summary or 0:]
    said = [line for line in lines if telling.search(line)][:12] or lines[-12:]
    if summary is not None:
        said = [line for line in lines if not re.match(r'\s*(File "|\^+$|Traceback)', line)][:30]
    print(f"\n{test.get('name')}:", *said, sep="\n  ", file=sys.stderr)
PYTHON
) || counts="ctest ended with code $code and left no report"
finish "$code" "$counts"
