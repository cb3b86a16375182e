#!/usr/bin/env bash
# Builds the programs of an older version for run.py into the folder DIR, in a work tree of its own.
# Without a COMMIT: the last tag that the present commit stands on.
#
# usage: tests/e2e/upgrade/build_old.sh DIR [COMMIT]    JOBS=N compilers at once (1)
set -euo pipefail
[ $# -ge 1 ] && [ $# -le 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
repository=$(cd "$(dirname "$0")/../../.." && pwd)
out=$(realpath -m "$1")
commit=${2:-$(git -C "$repository" describe --tags --abbrev=0 2>/dev/null)} ||
  { echo "build_old.sh: there is no tag: name the older COMMIT" >&2; exit 2; }
tree=$out/tree
mkdir -p "$out"
trap 'git -C "$repository" worktree remove --force "$tree" 2>/dev/null || true' EXIT
git -C "$repository" worktree add --force --detach "$tree" "$commit"
export CCACHE_BASEDIR=$tree CCACHE_NOHASHDIR=1
cd "$tree"
cmake --preset release -DHAI_WEB=OFF --log-level=WARNING > /dev/null
nice -n 10 ninja -C build/release -j"${JOBS:-1}" hai hai-server hai-agent hai-shim
mkdir -p "$out/bin"
cp build/release/bin/hai build/release/bin/hai-server build/release/bin/hai-agent build/release/bin/hai-shim "$out/bin/"
echo "HAI_OLD_BIN=$out/bin"
