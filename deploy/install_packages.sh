#!/usr/bin/env bash
# Installs the Debian packages of packages.txt that are missing, with --tests also those of
# packages-tests.txt. Needs root or sudo only if any is.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lists=("$here/packages.txt")
[ "${1:-}" != --tests ] || lists+=("$here/packages-tests.txt")
mapfile -t wanted < <(grep -h -v -E '^\s*(#|$)' "${lists[@]}")
missing=()
for line in "${wanted[@]}"; do
  read -r package command <<<"$line"
  [ -z "$command" ] || ! command -v "$command" >/dev/null || continue
  [ "$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | cut -c1-2)" = ii ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "packages: all ${#wanted[@]} are installed"
  exit 0
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "packages: need root or sudo to install: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "packages: installing ${#missing[@]} of ${#wanted[@]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=900 "$@"; }
if ! { apt update -q && apt install -q -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  tail -n 30 "$log" >&2
  echo "packages: apt-get failed, see above" >&2
  exit 1
fi
echo "packages: done"
