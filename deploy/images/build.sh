#!/usr/bin/env bash
# Builds OCI images of hai's server and agent from the Debian packages, and puts them as archives into the
# folder OUT: hai-server-VERSION.oci.tar, hai-agent-VERSION.oci.tar. They stay as localhost/hai-server and
# localhost/hai-agent in the storage of buildah and podman, too. Needs buildah.
#
# usage: deploy/images/build.sh OUT   BASE=IMAGE is what they stand on (docker.io/library/debian:12-slim);
#                                     PACKAGES=DIR takes the packages that are there instead of making them;
#                                     BUILDAH_OPTIONS, e.g. "--isolation chroot", go to `buildah build`
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
command -v buildah >/dev/null || { echo "build.sh: needs buildah: apt-get install buildah" >&2; exit 1; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
mkdir "$context/packages"
if [ -z "${PACKAGES:-}" ]; then
  "$here/../package.sh" "$context/packages"
else
  cp "$PACKAGES"/hai-{server,web,cli,agent}_*.deb "$PACKAGES"/python3-hai_*.deb "$context/packages/"
fi
version=$(dpkg-deb -f "$context"/packages/hai-server_*.deb Version | tr '+~' '..')
cp "$here/server-entrypoint" "$here/agent-entrypoint" "$context/"
for part in server agent; do
  # shellcheck disable=SC2086  # several words
  buildah build ${BUILDAH_OPTIONS:-} --file "$here/Containerfile" --target "$part" \
    --build-arg "BASE=${BASE:-docker.io/library/debian:12-slim}" \
    --label "org.opencontainers.image.title=hai-$part" --label "org.opencontainers.image.version=$version" \
    --tag "localhost/hai-$part:$version" --tag "localhost/hai-$part:latest" "$context"
  buildah push --quiet "localhost/hai-$part:$version" "oci-archive:$out/hai-$part-$version.oci.tar:hai-$part:$version"
  echo "$out/hai-$part-$version.oci.tar"
done
