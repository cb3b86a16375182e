#!/usr/bin/env bash
# A site of booted machines, each a Debian 12 with systemd in namespaces of its own, installed from the
# packages by the commands of docs/operations. Makes the packages, what a repository of them holds
# besides, and the tree that all machines begin with; the rest is small.py or site.py. Needs root,
# systemd-nspawn and a Debian mirror, or what an earlier run has kept of it; exits with 77 if it cannot
# run here.
#
# usage: tests/site/run.sh --small    two servers and two nodes: small.py
#        tests/site/run.sh [options]  ten machines: site.py, whose options these are
#        BUILD=DIR                    a build folder with all programs, build/release by default; what may be
#                                     kept for the next run is in DIR/package_test
#        PACKAGES=DIR                 takes the packages of both versions from there
set -euo pipefail
# What it writes is memory that ends with it: in mounts of its own.
[ "$(id -u)" != 0 ] || [ -n "${HAI_SITE_MOUNTS:-}" ] ||
  HAI_SITE_MOUNTS=own exec unshare --mount --propagation private "$0" "$@"
story=site.py stores=(postgresql-15 patroni etcd-server etcd-client pgbackrest)
if [ "${1:-}" = --small ]; then
  [ $# -eq 1 ] || { sed -n '2,13s/^# \{0,1\}//p' "$0" >&2; exit 2; }
  story=small.py stores=(postgresql)
  shift
fi
repository=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$repository/build/release}
[ -f "$BUILD/build.ninja" ] || { echo "$BUILD is no build folder: name one by BUILD=DIR" >&2; exit 2; }
. "$repository/deploy/package_tree.sh"
prepare_work systemd-nspawn nsenter ip psql
trap 'umount -l "$work"; rmdir "$work"' EXIT
mount -t tmpfs tmpfs "$work"

step "packages"
make_packages
step "a Debian with systemd"
make_tree site systemd systemd-sysv dbus iproute2 sudo python3 openssh-server openssh-client
step "what the repository holds besides"
quietly apt --no-install-recommends --download-only install "${stores[@]}"
for version in "$first" "$second"; do
  mkdir -p "$work/$version"
  cp "$work/packages"/*_"$version"_*.deb "$kept/archives"/*.deb "$work/$version/"
  # Without the option its cache believes the names: an earlier run had other packages under the same ones.
  (cd "$work/$version" && apt-ftparchive --db "$kept/archives.db" -o APT::FTPArchive::AlwaysStat=true \
    packages . > Packages 2> /dev/null)
done
step "machines"
python3 -B "$repository/tests/site/$story" --work "$work" --tree "$root" \
  --old "$work/$first" --new "$work/$second" "$@"
echo "site: done in $((SECONDS - began)) s"
