#!/usr/bin/env bash
# Unpacks what bundle.sh packed and runs the tests of a real GPU, as root.
# usage: tests/gpu/run.sh FILE.tar.xz [test options, as gpu_test.GpuTest.test_the_node_is_as_nvidia_says]
# $PYTHON (python3) should have PyTorch: what needs it is skipped otherwise.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
bundle=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."
getent passwd postgres >/dev/null || useradd --system --no-create-home postgres  # who PostgreSQL runs as
mkdir -p /opt/hai-gpu
python3 -m tarfile -e "$bundle" /opt/hai-gpu
chmod 755 /opt/hai-gpu
for part in lib share; do  # PostgreSQL looks for its files where it was built to be
  mkdir -p "/usr/$part/postgresql"
  for version in /opt/hai-gpu/usr/"$part"/postgresql/*; do
    [ -e "/usr/$part/postgresql/${version##*/}" ] || cp -r "$version" "/usr/$part/postgresql/"
  done
done
export HAI_BIN=/opt/hai-gpu/bin PYTHONPATH=tests/e2e
exec "${PYTHON:-python3}" -m unittest -v "${@:-gpu_test}"
