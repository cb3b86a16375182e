#!/usr/bin/env bash
# The part of run.sh that has a network of its own: containers of the images in $CONTAINERS_STORAGE_CONF, files in $work.
set -euo pipefail
: "${work:?}" "${BUILD:?}"
ip link set lo up
postgres=$work/postgres
finish() {
  podman rm -f -t 2 --all > /dev/null 2>&1 || true
  [ ! -e "$postgres/postmaster.pid" ] || kill -INT "$(head -n 1 "$postgres/postmaster.pid")" 2> /dev/null || true
}
trap finish EXIT
fail() {
  echo "containers.sh: $1" >&2
  for name in server agent; do podman logs --tail 20 "$name" >&2 2> /dev/null || true; done
  exit 1
}
expect() { [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"; }
# Of podman here: crun refuses control groups of two versions, and limits must be said.
options=(--network host --ulimit nofile=1024:4096 --ulimit nproc=8192:8192 --security-opt seccomp=unconfined)
start() {  # start NAME [OPTION...]
  local name=$1
  shift
  podman --runtime runc run --detach --name "$name" "${options[@]}" "$@" > /dev/null
}
await() {  # await WHAT COMMAND...: within a minute
  local what=$1 until=$((SECONDS + 60))
  shift
  until "$@" > "$work/log" 2>&1; do
    [ "$SECONDS" -lt "$until" ] || { cat "$work/log" >&2; fail "$what"; }
    read -rt 0.5 < "$work/never" || true
  done
}
mkfifo "$work/never"
exec 9<> "$work/never"
hai() { HAI_CONFIG=$work/contexts "$BUILD/bin/hai" "$@"; }
has_node() { hai nodes | grep -q 'node-1 .* up'; }
serves() { curl -fsk https://127.0.0.1:7780/readyz; }

# A database with a password, as another machine's would have.
chmod 711 "$work"
install -d -o postgres -m 700 "$postgres"
programs=$(echo /usr/lib/postgresql/*/bin)
printf 'sec:r\\et\n' > "$work/password"
runuser -u postgres -- "$programs/initdb" -D "$postgres" --auth-host scram-sha-256 --auth-local peer > "$work/log"
runuser -u postgres -- "$programs/pg_ctl" -D "$postgres" -w -l "$postgres/log" -o "-p 5432 -k $postgres -h 127.0.0.1" start > "$work/log"
runuser -u postgres -- psql -q -h "$postgres" -d postgres \
  -c "CREATE ROLE hai LOGIN PASSWORD 'sec:r\\et'" -c "CREATE DATABASE hai OWNER hai"

mkdir -p "$work"/{config,state,agent-config,agent-state}
serve() {
  start server -v "$work/config:/etc/hai" -v "$work/state:/var/lib/hai" -v "$work/password:/run/secrets/database:ro" \
    -e HAI_DATABASE="host=127.0.0.1 dbname=hai user=hai" -e HAI_DATABASE_PASSWORD_FILE=/run/secrets/database \
    -e HAI_NAMES=localhost,127.0.0.1 -e HAI_CLUSTER=boxed localhost/hai-server
}
serve
await "the server does not serve" serves
expect "mode of the passfile" 600 "$(stat -c %a "$work/config/pgpass")"
hai init - --url https://localhost:7700 --ca "$work/config/ca/ca.crt" < "$work/config/admin.token" > "$work/log"
expect "the cluster" boxed "$(hai whoami -o json | python3 -c 'import json, sys; print(json.load(sys.stdin)["cluster"])')"

hai node token create 'node-[1-2]' --ttl 10m --uses 2 > "$work/told"
start agent --privileged --pid host -v "$work/agent-config:/etc/hai" -v "$work/agent-state:/var/lib/hai" \
  -e HAI_SERVER=localhost:7700 -e HAI_JOIN_TOKEN="$(grep -o 'hai_[A-Za-z0-9_-]*' "$work/told" | head -n 1)" \
  -e HAI_CA_FINGERPRINT="$(grep -o 'sha256:[0-9a-fA-F:]*' "$work/told" | head -n 1)" -e HAI_NODE_NAME=node-1 localhost/hai-agent
await "the node does not come up" has_node

# A program that the image has and this machine does not: it runs in the container.
podman --runtime runc exec agent useradd --create-home admin
cat > "$work/job.yaml" <<JOB
version: 2
name: inside
spec: {workspace: /home/admin, entrypoint: /usr/local/bin/agent-entrypoint, parameters: --version}
resource: {node_count: 1, gpus_per_node: none, cpus_per_node: 1}
JOB
hai run "$work/job.yaml" --files-elsewhere -f > "$work/said" 2> "$work/log" || { cat "$work/log" >&2; fail "no job runs"; }
grep -q ' hai-agent [0-9]' "$work/said" || { cat "$work/said" >&2; fail "the job said something else"; }

# The same volumes again: what setup has made stays.
made() { sha256sum "$work"/config/{admin.token,ca/ca.key,secrets.key,server.yaml}; }
before=$(made)
podman rm -f -t 10 server > /dev/null
serve
await "the server does not come back" serves
await "the node is not back" has_node
expect "what setup had made" "$before" "$(made)"

refused() {  # refused IMAGE WORDS
  ! podman --runtime runc run --rm "${options[@]}" "$1" > "$work/log" 2>&1 || fail "$1 starts without being told anything"
  grep -q "$2" "$work/log" || { cat "$work/log" >&2; fail "$1 does not say what it needs"; }
}
refused localhost/hai-server 'HAI_DATABASE: libpq words'
refused localhost/hai-agent 'this node has not joined'
