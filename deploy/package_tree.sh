# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# Of deploy/package_test.sh and tests/site/run.sh: packages of a build folder, and a bare Debian 12 to
# install them in. To be sourced by a script with `set -euo pipefail` that has set
# BUILD, a build folder, and `repository`. With PACKAGES, a folder, the packages are taken from there.
# What took long to get is kept in BUILD/package_test for the next run.
began=$SECONDS
kept=$BUILD/package_test
all=(hai-server hai-agent hai-cli hai-slurm hai-web python3-hai)
first=1.0~test1 second=1.0~test2

skip() { echo "skipped: $1"; exit 77; }
fail() { echo "${0##*/}: $1" >&2; exit 1; }
step() { printf '=== %s (after %d s)\n' "$1" $((SECONDS - began)); }
expect() {  # expect WHAT EXPECTED FOUND
  [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}
quietly() { "$@" > "$work/log" 2>&1 || { tail -n 40 "$work/log" >&2; fail "failed: $*"; }; }

# Whether it can run here, with these programs, too; makes $work, and $root in it.
prepare_work() {
  local program
  [ "$(id -u)" = 0 ] || skip "needs root, to install packages in a tree of its own"
  for program in mmdebstrap dpkg-buildpackage dh dh_python3 apt-ftparchive unshare "$@"; do
    command -v "$program" >/dev/null || skip "needs $program (deploy/packages-tests.txt)"
  done
  for program in bin/hai-server bin/hai-agent bin/hai-pam bin/hai-slurm man/hai.1 share/hai/web/index.html; do
    [ -n "${PACKAGES:-}" ] || [ -e "$BUILD/$program" ] || skip "not everything is built: no $BUILD/$program"
  done
  mkdir -p "$kept/archives"
  work=$(mktemp -d "$kept/run.XXXXXX")
  root=$work/root
}

# Two versions of one build: the second differs in its number alone.
make_packages() {
  local deb
  if [ -n "${PACKAGES:-}" ]; then
    mkdir "$work/packages"
    cp "$PACKAGES"/*_"$first"_*.deb "$PACKAGES"/*_"$second"_*.deb "$work/packages/"
    return
  fi
  # Compressed as fast as can be: to shrink what is thrown away at once took longer than the rest.
  DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1 \
    BUILD=$BUILD VERSION=$first DEBFULLNAME=Packager DEBEMAIL=packager@hai.invalid \
    "$repository/deploy/package.sh" "$work/packages" > /dev/null
  for deb in "$work/packages"/*; do
    dpkg-deb -R "$deb" "$work/unpacked"
    sed -i "s/^Version: .*/Version: $second/" "$work/unpacked/DEBIAN/control"
    quietly dpkg-deb -Znone --root-owner-group -b "$work/unpacked" "${deb/_${first}_/_${second}_}"
    rm -rf "$work/unpacked"
  done
}

# In namespaces of its own, so that whatever is mounted or started there ends with the command.
inside() {
  unshare --mount --pid --fork --kill-child --ipc --uts bash -euc '
    root=$1 archives=$2
    shift 2
    mount --make-rprivate /
    mount -t proc proc "$root/proc"
    mount --bind "$archives" "$root/var/cache/apt/archives"
    export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin
    exec chroot "$root" "$@"' bash "$root" "$kept/archives" "$@"
}
apt() { inside apt-get -q -y -o APT::Keep-Downloaded-Packages=1 -o DPkg::Use-Pty=0 "$@"; }

keep_tree() {  # keep_tree NAME: the tree in $root, for later runs
  tar -C "$root" --exclude='./proc/*' -cf "$work/$1" .
  mv "$work/$1" "$kept/$1"
}

# A Debian of the least packages, and what else is named: of the runs before if they were the same.
# What the packages of hai stand on is not what is tested, so it is there from the beginning.
make_tree() {  # make_tree NAME [PACKAGE...]
  local deb name depends=""
  for deb in "$work/packages"/*_"$first"_*.deb; do depends+=$(dpkg-deb -f "$deb" Depends | sed -n 's/..*/&, /p'); done
  name=$1-$(printf '%s' "$depends$*" | md5sum | cut -c1-12).tar
  shift
  mkdir "$root"
  if [ -e "$kept/$name" ]; then
    tar -C "$root" -xf "$kept/$name"
    return
  fi
  # mmdebstrap takes half of debootstrap's processor time.
  if ! [ -e "$kept/minbase.tar" ]; then
    mmdebstrap --variant=minbase bookworm "$work/minbase.tar" > "$work/log" 2>&1 ||
      skip "mmdebstrap has made no Debian: $(tail -n 1 "$work/log")"
    mv "$work/minbase.tar" "$kept/minbase.tar"
  fi
  tar -C "$root" -xf "$kept/minbase.tar"
  # Nothing that is installed starts here.
  printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"
  chmod +x "$root/usr/sbin/policy-rc.d"
  apt update > "$work/log" 2>&1 || skip "no Debian mirror: $(tail -n 1 "$work/log")"
  [ $# -eq 0 ] || quietly apt --no-install-recommends install "$@"
  quietly apt --no-install-recommends satisfy "${depends%, }"
  rm "$root/usr/sbin/policy-rc.d"
  keep_tree "$name"
}

publish() {  # publish VERSION: all that the machine can install from now on
  rm -rf "$root/repository"
  mkdir "$root/repository"
  cp "$work/packages"/*_"$1"_*.deb "$root/repository/"
  (cd "$root/repository" && apt-ftparchive packages . > Packages 2> /dev/null)
  echo "deb [trusted=yes] file:/repository ./" > "$root/etc/apt/sources.list"
}
