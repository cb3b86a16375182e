#!/usr/bin/env bash
# The site of ten machines: three with the store, two servers, four nodes, one where people work, each
# a Debian 12 that boots with systemd in namespaces of its own. Makes the packages, a repository of
# them and the tree that all machines begin with; the rest is site.py. Needs root, systemd-nspawn and a
# Debian mirror, or what an earlier run has kept of it; exits with 77 if it cannot run here.
#
# usage: BUILD=DIR tests/site/run.sh [options of site.py]
set -euo pipefail
: "${BUILD:?is the build folder}"
repository=$(cd "$(dirname "$0")/../.." && pwd)
. "$repository/deploy/package_tree.sh"
prepare_work systemd-nspawn nsenter ip
trap 'rm -rf "$work"' EXIT

step "packages"
make_packages
step "a Debian with systemd"
make_tree ten systemd systemd-sysv dbus iproute2 sudo python3
step "the store's packages, for the repository"
quietly apt --no-install-recommends --download-only install postgresql-15 patroni etcd-server etcd-client pgbackrest
for version in "$first" "$second"; do
  mkdir -p "$work/$version"
  cp "$work/packages"/*_"$version"_*.deb "$work/$version/"
  cp -l "$kept/archives"/*.deb "$work/$version/" 2> /dev/null || cp "$kept/archives"/*.deb "$work/$version/"
  (cd "$work/$version" && apt-ftparchive packages . > Packages 2> /dev/null)
done
python3 -B "$repository/tests/site/site.py" --work "$work" --tree "$root" --old "$work/$first" --new "$work/$second" "$@"
