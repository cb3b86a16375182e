#!/bin/sh
# plant.sh NAME OUT: writes to OUT the source file of a mutant of mutants.txt, with its bug planted. Exit status 2 if there
# is no such mutant, or if it does not apply any more.
set -u
here=$(cd "$(dirname "$0")" && pwd)
line=$(grep -m 1 "^$1 *|" "$here/mutants.txt") || { echo "no mutant $1" >&2; exit 2; }
source=$here/../../$(printf '%s' "$line" | cut -d '|' -f 2 | tr -d ' ')
sed "$(printf '%s' "$line" | cut -d '|' -f 3- | sed 's/^ //')" "$source" >"$2" || exit 2
if cmp -s "$source" "$2"; then
  echo "$1 does not apply to $source any more" >&2
  exit 2
fi
