#!/usr/bin/env bash
# Makes the Debian packages of hai from this source tree and puts them into the folder OUT.
#
# usage: deploy/package.sh OUT   BUILD=DIR takes the programs of that build folder as they are,
#                                instead of building them in build/release;
#                                VERSION=V is their version instead of what the programs say of
#                                themselves, which is that of the sources (source_version.sh);
#                                DEBFULLNAME and DEBEMAIL say who makes them.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
fail() {
  echo "package.sh: $1" >&2
  exit 1
}
[ $# -eq 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)

for program in dpkg-buildpackage dh dh_python3; do
  command -v "$program" >/dev/null ||
    fail "needs $program: apt-get install dpkg-dev debhelper dh-python"
done
if [ -z "${BUILD:-}" ]; then
  BUILD=$repository/build/release
  export CCACHE_BASEDIR=$repository CCACHE_NOHASHDIR=1
  (cd "$repository" && cmake --preset release --log-level=WARNING >/dev/null)
  ninja -C "$BUILD" hai hai_man hai-server hai-agent hai-pam hai-slurm web >&2
fi
BUILD=$(realpath "$BUILD")
for file in bin/hai-server bin/hai-agent bin/hai-pam bin/hai-shim bin/hai-validator bin/hai-hang-evidence bin/hai-image bin/hai \
  bin/hai-slurm man/hai.1 completion/bash share/hai/web/index.html; do
  [ -e "$BUILD/$file" ] || fail "no $BUILD/$file: build hai, hai_man, hai-server, hai-agent, hai-pam, hai-slurm and web"
done
# One version of all: what nodes and `hai doctor` tell is then what is installed.
says=$(for program in hai-server hai-agent hai hai-slurm; do "$BUILD/bin/$program" --version; done | grep -o '[^ ]*$' | sort -u)
[ "$(wc -l <<< "$says")" = 1 ] ||
  fail "$BUILD has programs of several versions ($(paste -sd ' ' <<< "$says")): build hai, hai-server, hai-agent and hai-slurm"
version=${VERSION:-$says}
dpkg --validate-version "$version" || fail "VERSION is no version of a Debian package: $version"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/hai
mkdir -p "$tree/deploy"
cp -r "$repository/deploy/debian" "$tree/debian"
cp -r "$repository/deploy/systemd" "$tree/deploy/"
maintainer="${DEBFULLNAME:-hai} <${DEBEMAIL:-hai@$(hostname --fqdn 2>/dev/null || hostname)}>"
sed "s/@MAINTAINER@/$maintainer/" "$repository/deploy/debian/control.in" > "$tree/debian/control"
rm "$tree/debian/control.in"
date=$(git -C "$repository" log -1 --format=%cD 2>/dev/null || date -R)
cat > "$tree/debian/changelog" <<CHANGELOG
hai ($version) unstable; urgency=medium

  * Packages of the sources as they are; what has changed is in their history.

 -- $maintainer  $date
CHANGELOG

log=$out/package.log
cd "$tree"
# Without packages of debugging symbols: DEB_BUILD_OPTIONS= in the environment makes those, too.
if ! env BUILD="$BUILD" DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-noautodbgsym nocheck}" \
  dpkg-buildpackage --build=binary --no-sign --no-check-builddeps > "$log" 2>&1; then
  tail -n 20 "$log" >&2
  fail "dpkg-buildpackage failed; all it said is in $log"
fi
rm "$log"
mv "$work"/*.deb "$out/"
printf '%s\n' "$out"/*_"$version"_*.deb
