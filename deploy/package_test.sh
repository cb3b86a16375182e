#!/usr/bin/env bash
# Installs, upgrades, removes and purges the Debian packages in a bare Debian 12 of its own, and looks
# that nothing is missing and nothing is left. Needs root, mmdebstrap and a Debian mirror, or what an
# earlier run has kept of it; exits with 77 if it cannot run here.
#
# usage: BUILD=DIR deploy/package_test.sh    DIR is a build folder with all programs; what may be kept
#                                            for the next run is in DIR/package_test
set -euo pipefail
: "${BUILD:?is the build folder}"
repository=$(cd "$(dirname "$0")/.." && pwd)
. "$repository/deploy/package_tree.sh"
prepare_work lintian
trap 'rm -rf "$work"' EXIT

check_with_lintian() {
  local errors
  errors=$(lintian --allow-root --fail-on none --suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog \
    "$work/packages"/*"_${first}_"*.deb | grep '^E:' || true)
  expect "lintian" "" "$errors"
}

# Every file with its owner, mode and content; less what apt and dpkg keep as their own memory.
look() {
  inside bash -euc '
    find / -xdev \( -path /proc -o -path /run -o -path /repository -o -path /tmp -o -path /var/cache \
      -o -path /var/lib/apt -o -path /var/log -o -path "/var/lib/dpkg/*-old" -o -path /var/lib/dpkg/status \
      -o -path "/etc/*-" -o -path /var/lib/dpkg/lock\* \) -prune \
      -o -printf "%p %y %m %u:%g %l\n" | LC_ALL=C sort
    find /etc -xdev -type f -not -path "/etc/*-" -exec sha256sum {} + | LC_ALL=C sort -k 2'
}

# ---- what must hold ----

check_installed() {  # check_installed VERSION
  local package path expected line
  local slurm  # each name that is linked, and no other one
  mapfile -t slurm < "$repository/cli/slurm/link_names.txt"
  expect "Slurm's commands" "$(printf '%s\n' "${slurm[@]}" | LC_ALL=C sort)" \
    "$(inside ls /usr/libexec/hai/slurm | LC_ALL=C sort)"
  slurm=("${slurm[@]/#//usr/libexec/hai/slurm/}")
  slurm=("${slurm[@]/%/ --version}")
  for package in "${all[@]}"; do
    expect "version of $package" "$1" "$(inside dpkg-query -W -f '${Version}' "$package")"
  done
  expect "user" "hai:hai:/var/lib/hai:/usr/sbin/nologin" "$(inside getent passwd hai |
    awk -F: '{ print $1 ":" "'"$(inside id -gn hai)"'" ":" $6 ":" $7 }')"
  while read -r path expected; do
    expect "$path" "$expected" "$(inside stat -c '%a %U:%G' "$path")"
  done <<PLACES
/etc/hai 755 root:root
/etc/default/hai-backup 644 root:root
/var/lib/hai 755 root:root
/var/lib/hai/archive 750 hai:hai
/var/lib/hai/server 700 hai:hai
/var/lib/hai/agent 711 root:root
/var/backups/hai 700 hai:hai
/usr/bin/hai-pam 755 root:root
/usr/libexec/hai/hai-shim 755 root:root
/usr/share/doc/hai-agent/examples/pam/sshd 644 root:root
/usr/share/hai/web/index.html 644 root:root
PLACES
  for line in "hai-server --version" "hai-agent --version" "hai-validator --version" "hai-pam --help" "hai --version" \
    "/usr/libexec/hai/hai-hang-evidence --help" "/usr/libexec/hai/hai-image --help" "hai-backup --help" "hai-store-setup --help" "${slurm[@]}"; do
    # shellcheck disable=SC2086
    inside $line > "$work/log" 2>&1 || { cat "$work/log"; fail "does not run: $line"; }
    [ -s "$work/log" ] || fail "says nothing: $line"
  done
  inside ldd /usr/libexec/hai/hai-shim > "$work/log"
  ! grep "not found" "$work/log" || fail "hai-shim lacks libraries"
  inside env --chdir=/ python3 -c 'import hai, hfai.client; assert hai.__file__.startswith("/usr/lib/python3/")'
  inside env PYTHONPATH=/usr/share/hai/python python3 -c \
    'import hai; assert hai.__file__.startswith("/usr/share/hai/python/"), hai.__file__'
}

check_exposure() {  # check_exposure UNIT TENTHS
  inside systemd-analyze security --offline=true --threshold="$2" "/lib/systemd/system/$1" \
    > "$work/log" || { tail -n 1 "$work/log"; fail "$1 is exposed"; }
}

check_units() {
  local unit
  for unit in hai-server.service hai-agent.service hai-ranks.service hai.slice hai-archive.service \
    hai-archive.timer hai-backup.service hai-backup.timer hai-store-backup.service hai-store-backup.timer; do
    inside systemd-analyze verify --man=no "/lib/systemd/system/$unit" > "$work/log" 2>&1 || true
    ! grep -i "hai" "$work/log" || fail "$unit: systemd has objections"
  done
  # In tenths: systemd's own judgement of what a break-in could do. The agent is root, as it must be.
  check_exposure hai-server.service 30
  check_exposure hai-agent.service 77
}

# As a person or `hai-server setup` would, and what the programs write.
configure() {
  inside bash -euc '
    echo "HAI_BACKUP_KEEP=3" >> /etc/default/hai-backup
    echo "cluster: test" > /etc/hai/server.yaml
    echo "name: node-1" > /etc/hai/agent.yaml
    mkdir -p /etc/hai/ca /var/lib/hai/agent/ranks /var/log/hai
    touch /etc/hai/ca/ca.key /var/lib/hai/archive/old.jsonl.gz /var/lib/hai/agent/instance /var/lib/hai/server/audit.position'
}
configured_files() {
  inside sha256sum /etc/default/hai-backup /etc/hai/server.yaml /etc/hai/agent.yaml /etc/hai/ca/ca.key
}

step "packages"
make_packages
check_with_lintian
step "a bare Debian"
make_tree bare
publish "$first"
quietly apt update
look > "$work/before"

step "install"
quietly apt --no-install-recommends install "${all[@]}"
check_installed "$first"
check_units
quietly apt --reinstall install "${all[@]}"
check_installed "$first"

step "a disk that is full in the middle of an upgrade"
configure
configured_files > "$work/configured"
publish "$second"
quietly apt update
remedy=$(grep -o 'dpkg --configure -a && apt-get -f install' "$repository/docs/operations/upgrade.md")
# The file system of the programs has room for a part of the new ones.
quietly inside bash -euc '
  mkdir /tmp/small /tmp/below
  mount --bind / /tmp/below
  mount -t tmpfs -o "mode=755,size=$(($(du -sk /usr/bin | cut -f 1) + 16384))k" tmpfs /tmp/small
  cp -a /usr/bin/. /tmp/small
  mount --bind /tmp/small /usr/bin
  before=$(sha256sum /usr/bin/hai-server /usr/bin/hai-agent)
  if apt-get -q -y -o DPkg::Use-Pty=0 upgrade > /tmp/said 2>&1; then
    echo "an upgrade has found room that was not there"; exit 1
  fi
  grep "No space left on device" /tmp/said || { cat /tmp/said; exit 1; }
  [ "$before" = "$(sha256sum /usr/bin/hai-server /usr/bin/hai-agent)" ] ||
    { echo "programs have been damaged"; exit 1; }
  hai-server --version && hai-agent --version && hai --version
  [ -z "$(find /usr/bin -name "*.dpkg-new")" ] || { echo "dpkg has left pieces"; exit 1; }
  mount -o remount,size=2G /tmp/small
  '"$remedy"' -q -y
  apt-get -q -y -o DPkg::Use-Pty=0 upgrade
  # What is mounted ends with this command.
  cp -a --remove-destination /usr/bin/. /tmp/below/usr/bin/'
inside rm -r /tmp/small /tmp/below /tmp/said
expect "packages that are not whole" "" "$(inside dpkg --audit)"
check_installed "$second"
expect "configuration after it" "$(cat "$work/configured")" "$(configured_files)"

step "upgrade to a higher version"
publish "$first"
quietly apt update
# shellcheck disable=SC2046  # several words
quietly apt --allow-downgrades install $(printf "%s=$first " "${all[@]}")
publish "$second"
quietly apt update
quietly apt upgrade
check_installed "$second"
expect "configuration after the upgrade" "$(cat "$work/configured")" "$(configured_files)"

step "remove"
# Nobody but root comes in any more where PAM asks a program that is gone.
inside cp /usr/share/doc/hai-agent/examples/pam/sshd /etc/pam.d/sshd
quietly apt remove "${all[@]}"
grep -q "hai-agent: warning: /etc/pam.d/sshd still runs hai-pam" "$work/log" ||
  fail "the removal does not warn of PAM lines that are left"
inside rm /etc/pam.d/sshd
expect "configuration after the removal" "$(cat "$work/configured")" "$(configured_files)"
expect "programs after the removal" "" "$(inside find /usr/bin /usr/libexec /lib/systemd -name 'hai*')"

step "purge"
quietly apt purge "${all[@]}"
expect "the archive after the purge" "/var/lib/hai/archive root:root /var/lib/hai/archive/old.jsonl.gz root:root" \
  "$(inside find /var/lib/hai -mindepth 1 -printf '%p %u:%g\n' | LC_ALL=C sort | paste -sd ' ')"
inside rm -r /var/lib/hai
look > "$work/after"
diff "$work/before" "$work/after" || fail "a purge leaves or takes something, see above"
echo "packages: installed, upgraded, removed and purged in $((SECONDS - began)) s"
