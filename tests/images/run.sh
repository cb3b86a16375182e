#!/usr/bin/env bash
# Builds the images of deploy/images on a Debian of its own, and tries them: a server on a real PostgreSQL,
# twice on the same volumes, an agent that joins it, and a job. Needs root, buildah, podman and runc, and what
# deploy/package_test.sh needs; exits with 77 if it cannot run here.
#
# usage: BUILD=DIR tests/images/run.sh    DIR is a build folder with all programs
set -euo pipefail
: "${BUILD:?is the build folder}"
repository=$(cd "$(dirname "$0")/../.." && pwd)
. "$repository/deploy/package_tree.sh"
prepare_work buildah podman runc
trap '[ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
# Images and containers of the run's own.
export CONTAINERS_STORAGE_CONF=$work/storage.conf
printf '[storage]\ndriver = "vfs"\ngraphroot = "%s"\nrunroot = "%s"\n' "$work/storage" "$work/storage-run" > "$CONTAINERS_STORAGE_CONF"

step "packages"
make_packages
mkdir "$work/first"
cp "$work/packages"/*_"$first"_*.deb "$work/first/"
step "a Debian for them to stand on"
[ -e "$kept/minbase.tar" ] || { make_tree bare; rm -rf "$root"; }
base=$(buildah from scratch)
quietly buildah add "$base" "$kept/minbase.tar" /
quietly buildah commit "$base" localhost/debian:12-slim
quietly buildah rm "$base"
step "images"
PACKAGES=$work/first BASE=localhost/debian:12-slim \
  BUILDAH_OPTIONS="--isolation chroot --network host --pull-never --ulimit nofile=1024:4096" \
  "$repository/deploy/images/build.sh" "$work/out" > "$work/built" 2> "$work/log" ||
  { tail -n 30 "$work/log"; fail "no images"; }
expect "images" 2 "$(grep -c 'oci.tar$' "$work/built")"
step "containers"
# With the default ports, on a loopback of their own.
unshare --net env work="$work" BUILD="$BUILD" "$repository/tests/images/containers.sh"
step "done"
