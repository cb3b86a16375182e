#!/usr/bin/env bash
# A site of one machine: boots a Debian 12 with systemd in namespaces of its own, installs the packages
# there as docs/operations/install.md says, and runs a job that lives through restarts, hung programs and
# an upgrade of hai. Needs root, systemd-nspawn and a Debian mirror, or what an earlier run has kept of
# it; exits with 77 if it cannot run here.
#
# usage: BUILD=DIR tests/site/run.sh --small    DIR is a build folder with all programs; what may be
#                                               kept for the next run is in DIR/package_test
#        BUILD=DIR tests/site/run.sh            ten machines instead of one: big.sh
set -euo pipefail
[ "${1:-}" = --small ] || exec "$(dirname "$0")/big.sh" "$@"
[ $# -eq 1 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
: "${BUILD:?is the build folder}"
repository=$(cd "$(dirname "$0")/../.." && pwd)
. "$repository/deploy/package_tree.sh"
prepare_work systemd-nspawn nsenter
machine=""  # systemd-nspawn
leader=""   # its init

diagnose() {
  on_site systemctl --no-pager --failed || true
  on_site journalctl --no-pager -n 60 -u 'hai-*' || true
}
finish() {
  local code=$?
  trap - EXIT
  [ $code -eq 0 ] || [ -z "$leader" ] || diagnose >&2
  [ -z "$leader" ] || kill -KILL "$leader" 2>/dev/null || true
  [ -z "$machine" ] || wait "$machine" 2>/dev/null || true
  rm -rf "$work"
  exit $code
}
trap finish EXIT

on_site() {
  nsenter --target "$leader" --all env -i --chdir=/ PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
    LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
apt_on_site() { quietly on_site apt-get -q -y --no-install-recommends -o DPkg::Use-Pty=0 "$@"; }
wait_until() {  # wait_until SECONDS WHAT TEST...
  local end=$((SECONDS + $1)) seconds=$1 what=$2
  shift 2
  until "$@" > /dev/null 2>&1; do
    [ $SECONDS -lt $end ] || fail "not within $seconds s: $what"
    sleep 0.3
  done
}

has_booted() {
  leader=$(pgrep -P "$machine" | head -n 1) && [ -n "$leader" ] || return 1
  case $(on_site systemctl is-system-running) in running | degraded) true ;; *) false ;; esac
}
boot() {
  systemd-nspawn -q -D "$root" --boot --register=no --keep-unit --private-network --console=passive \
    > "$work/console" 2>&1 &
  machine=$!
  wait_until 120 "the machine boots" has_booted
}

# ---- what docs/operations/install.md and README.md say ----

set_up_database() {
  wait_until 60 "PostgreSQL runs" on_site runuser -u postgres -- psql -c 'SELECT 1'
  quietly on_site runuser -u postgres -- createuser hai
  quietly on_site runuser -u postgres -- createdb -O hai -T template0 -E UTF8 --locale=C hai
}
write_configs() {
  on_site bash -euc '
    cd /etc/hai
    umask 077
    for secret in admin agent; do head -c 32 /dev/urandom | base64 | tr -d "/+=\n" > $secret.token; done
    chown hai: admin.token
    chgrp hai agent.token
    chmod 640 agent.token
    umask 022
    cat > server.yaml <<YAML
cluster: site
listen: {grpc: 127.0.0.1:7700, http: 127.0.0.1:7780}
store: {conninfo: host=/run/postgresql dbname=hai user=hai}
bootstrap: {admin_user: ann, admin_token_file: /etc/hai/admin.token}
agent_token_file: /etc/hai/agent.token
default_quota_nodes: unlimited
audit: {file: /var/log/hai/audit.jsonl, position: /var/lib/hai/server/audit.position}
logs: {store: /srv/hai-logs}
YAML
    install -d -o hai -m 0700 /srv/hai-logs
    mkdir -p /run/systemd/system/hai-server.service.d
    printf "[Service]\nReadWritePaths=/srv/hai-logs\n" > /run/systemd/system/hai-server.service.d/store.conf
    systemctl daemon-reload
    cat > agent.yaml <<YAML
name: node-1
data_dir: /var/lib/hai/agent
servers: [127.0.0.1:7700]
token_file: /etc/hai/agent.token
simulate_gpus: 8
isolation: shared
YAML
    useradd --create-home ann'
}
start_services() {
  quietly on_site runuser -u hai -- hai-server migrate
  quietly on_site runuser -u hai -- hai-server --check-config
  quietly on_site systemctl enable --now hai-server hai-agent
  quietly on_site bash -c 'hai init "$(cat /etc/hai/admin.token)" --url grpc://127.0.0.1:7700'
  wait_until 60 "the node is up" node_is_up
}
node_is_up() { on_site hai nodes node-1 -o json | grep -q '"liveness": *"up"'; }

# ---- the job ----

json() { on_site hai status "$job" -o json | python3 -c "import json, sys; print(json.load(sys.stdin)['$1'])"; }
runs() { [ "$(json attempt_state) $(json attempt)" = "running 1" ] && [ -s "$root/home/ann/pid" ]; }
submit_job() {
  local script='echo $$ > /home/ann/pid; while :; do date +%s%N > /home/ann/alive; sleep 0.1; done'
  job=$(on_site env --chdir=/home/ann hai exec /bin/sh -c "$script" -- --gpus 8 -o json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])')
  wait_until 60 "the job runs" runs
  pid=$(cat "$root/home/ann/pid")
}
# The very process, and it has just said so; and the server knows it as its first attempt.
has_moved_on() { [ "$(cat "$root/home/ann/alive")" != "$1" ]; }
expect_same_job() {
  wait_until 60 "the node is up after $1" node_is_up
  wait_until 10 "the job lives on after $1" has_moved_on "$(cat "$root/home/ann/alive")"
  expect "process of the job after $1" "$pid" "$(cat "$root/home/ann/pid")"
  expect "attempt after $1" "running 1" "$(json attempt_state) $(json attempt)"
}

property() { on_site systemctl show "$1" --property="$2" --value; }
has_restarted() { [ "$(property "$1" NRestarts)" -gt "$2" ] && [ "$(property "$1" ActiveState)" = active ]; }
hang() {  # hang UNIT: stands still until its watchdog barks
  local before
  on_site mkdir -p "/run/systemd/system/$1.d"
  printf '[Service]\nWatchdogSec=2s\n' > "$work/watchdog.conf"
  on_site tee "/run/systemd/system/$1.d/test.conf" < "$work/watchdog.conf" > /dev/null
  on_site systemctl daemon-reload
  on_site systemctl restart "$1"
  before=$(property "$1" NRestarts)
  on_site bash -c "kill -STOP $(property "$1" MainPID)"
  wait_until 60 "$1 is started again" has_restarted "$1" "$before"
  on_site journalctl --no-pager -u "$1" | grep -q 'Watchdog timeout' || fail "$1: no watchdog in its log"
}

# ---- the story ----

step "packages"
make_packages
step "a Debian with systemd"
make_tree site systemd systemd-sysv dbus iproute2 postgresql
publish "$first"
boot

step "install"
apt_on_site update
apt_on_site install "${all[@]}"
expect "server before it is configured" inactive "$(property hai-server ActiveState)"
set_up_database
write_configs
start_services
expect "lines with a level in the journal" 0 "$(on_site journalctl -u hai-server -o cat -p warning..emerg | grep -c server_started || true)"
on_site journalctl -u hai-server -o cat -p info | grep -q '^server_started ' || fail "no server_started in the journal"

step "a job runs"
submit_job
wait_until 30 "the audit log's position is kept" on_site test -s /var/lib/hai/server/audit.position
wait_until 30 "the log store has its mark" on_site test -s /srv/hai-logs/.hai-log-store
expect "its control group" "1" "$(on_site grep -c ':/hai.slice/hai-ranks.service/' "/proc/$pid/cgroup" || true)"

step "the agent is restarted"
on_site systemctl restart hai-agent
expect_same_job "a restart of the agent"
on_site systemctl reload hai-agent hai-server
expect_same_job "a reload"

step "server and agent hang"
hang hai-server.service
expect_same_job "a hung server"
hang hai-agent.service
expect_same_job "a hung agent"

step "a backup"
on_site systemctl start hai-backup.service
on_site runuser -u hai -- hai-backup list | grep -q '/var/backups/hai/hai-.*dump' || fail "no backup"
quietly on_site systemctl enable --now hai-backup.timer

step "an upgrade"
server_before=$(property hai-server MainPID)
publish "$second"
apt_on_site update
apt_on_site upgrade
expect "version" "$second" "$(on_site dpkg-query -W -f '${Version}' hai-agent)"
[ "$(property hai-server MainPID)" != "$server_before" ] || fail "the server was not restarted"
expect_same_job "an upgrade"

step "remove"
uid=$(on_site id -u hai)
processes_of_hai() {
  on_site find /proc -maxdepth 1 -name '[0-9]*' -uid "$uid" -print
  on_site bash -c 'for program in /proc/[0-9]*/exe; do readlink "$program"; done | grep "/hai" || true'
}
[ -n "$(processes_of_hai)" ] || fail "no process of hai is seen while it runs"
apt_on_site remove hai-agent hai-server
! on_site test -e "/proc/$pid" || fail "the job lives without hai"
expect "processes after the removal" "" "$(processes_of_hai)"
expect "the timer after the removal" inactive "$(property hai-backup.timer ActiveState)"
on_site test -e /etc/hai/server.yaml || fail "the removal takes the config"

step "purge of the server beside an agent"
apt_on_site install hai-agent
on_site bash -euc 'cd /etc/hai
  touch cluster.id pgpass secrets-2026.key made-by-hand
  chown hai: pgpass secrets-2026.key made-by-hand
  chown hai: .'
apt_on_site purge hai-server
expect "what is left in /etc/hai" "agent.token agent.yaml made-by-hand" "$(on_site ls /etc/hai | paste -sd ' ')"
expect "owners in /etc/hai" "root" "$(on_site find /etc/hai -printf '%u\n' | sort -u)"
! on_site getent passwd hai || fail "the user hai is left"
! on_site getent group hai || fail "the group hai is left"

step "purge"
apt_on_site purge "${all[@]}"
expect "what is left" "/var/backups/hai" "$(on_site find /etc /usr /lib /var -xdev -path /var/cache -prune -o -name 'hai*' \
  -not -path '/var/lib/apt/*' -not -path '/var/backups/hai/*' -not -path '/var/lib/postgresql/*' -print)"
echo "site: installed, upgraded and purged under a running job in $((SECONDS - began)) s"
