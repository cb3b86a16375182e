#!/usr/bin/env bash
# From a bare Debian 12 to a running cluster, and a little story played on it: a training job is
# suspended for a more important one, loses a node, and still ends with exactly the same weights.
# About two minutes after the build; the second time nothing is built. Needs root or sudo only if
# packages are missing.
#
# usage: deploy/quickstart.sh    CLUSTER=NAME takes another dev cluster than `dev`;
#                                HAI_BIN=DIR takes the programs in DIR instead of building them.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
cluster=${CLUSTER:-dev}
export HAI_CONTEXT=$cluster PYTHONDONTWRITEBYTECODE=1
chapter=0
story=""
followers=()

# ---- how it speaks ----

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
  bold=$'\e[1m' dim=$'\e[2m' red=$'\e[31m' green=$'\e[32m' plain=$'\e[0m'
else
  bold="" dim="" red="" green="" plain=""
fi
heading() {
  chapter=$((chapter + 1))
  printf '\n%s%d. %s%s\n\n' "$bold" "$chapter" "$1" "$plain"
}
say() { printf '%s\n' "$@" | cat; }  # In one piece, whatever the followed log says meanwhile.
indent() { sed -u "s/^/    $dim/; s/\$/$plain/"; }
show() {  # Shows a command as a reader would type it, and what it says.
  printf '    %s$ %s%s\n' "$bold" "$*" "$plain"
  "$@" 2>&1 | indent
  echo
}
stop_followers() {
  local pid
  for pid in "${followers[@]}"; do kill "$pid" 2>/dev/null || true; done
  followers=()
}
diagnose() {
  echo "--- jobs"
  hai list
  echo "--- nodes"
  hai nodes
  echo "--- the last events"
  hai events -n 20
  echo "--- the end of the server's log, $data/log/server.log"
  tail -n 15 "$data/log/server.log"
  echo "The cluster stays as it is: look around with hai list, hai events, hai why; hai dev down" \
    "ends it."
}
fail() {
  trap - EXIT
  stop_followers
  printf '\n%sfailed: %s%s\n' "$red" "$1" "$plain" >&2
  [ -z "$story" ] || diagnose >&2 || true
  exit 1
}
interrupted() {
  trap - EXIT
  stop_followers
  printf '\ninterrupted; the cluster stays as it is: hai dev down ends it\n'
  exit 130
}
trap 'code=$?; stop_followers; [ $code -eq 0 ] || fail "a command ended with code $code"' EXIT
trap interrupted INT TERM

# ---- how it asks ----

hai() { "$bin/hai" "$@"; }
json() { python3 -c "import json, sys; it = json.load(sys.stdin); print($1)"; }
field() { hai status "$1" -o json | json "it['$2']"; }  # field JOB NAME
ids() { json "*(job['id'] for job in it)"; }
submit() { hai run "$1" -o json | json "it['id']"; }
weights() { json "it['sha256']" < "$1"; }

wait_until() {  # wait_until SECONDS WHAT TEST...: until the test holds
  local seconds=$1 what=$2 end=$((SECONDS + $1))
  shift 2
  until "$@"; do
    [ $SECONDS -lt $end ] || fail "not within $seconds s: $what"
    sleep 0.2
  done
}
runs() { [ "$(field "$1" attempt_state) $(field "$1" attempt)" = "running $2" ]; }
has_ended() {
  case $(field "$1" state) in succeeded | failed | stopped) true ;; *) false ;; esac
}
has_passed() {  # has_passed JOB STEP
  local step
  step=$(field "$1" progress_step)
  [ "$step" != None ] && [ "$step" -ge "$2" ]
}
node_is_up() { [ "$(hai nodes "$1" -o json | json "it['liveness']")" = up ]; }
has_gone() { ! kill -0 "$1" 2>/dev/null; }
expect_success() {
  local state
  state=$(field "$1" state)
  [ "$state" = succeeded ] || fail "job $1 has $state: $(field "$1" end_reason)"
}

# ---- what it plays with ----

job_file() {  # job_file NAME PRIORITY NODES STEPS SEED: the sample training as a job
  cat > "$story/$1.yaml" <<YAML
version: 2
name: $1-$run
priority: $2
spec:
  workspace: $repository/docs/examples
  entrypoint: train.py
  parameters: --steps $4 --step-seconds 0.1 --checkpoint-every 25 --print-every 25 --seed $5
    --checkpoint-dir '$story/$1' --result '$story/$1.json'
  environments: {PYTHONDONTWRITEBYTECODE: "1"}
resource:
  group: training
  node_count: $3
options:
  suspend: {grace: 60s}
  tags: [quickstart]
YAML
}
train_beside() {  # The same training in one process that hai knows nothing of.
  cd "$repository/docs/examples"
  exec python3 train.py --steps 300 --checkpoint-every 25 --checkpoint-dir "$story/alone" \
    --result "$story/alone.json" > "$story/alone.log" 2>&1
}
follow() {  # Its log, beside the story: it goes on through suspensions and moves.
  local time='s/^[0-9-]*T\([0-9:]*\)[0-9.]*Z/\1/'
  "$bin/hai" logs -f "$1" > >(sed -u "$time; s/^/    $dim$2 | /; s/\$/$plain/") 2>&1 &
  follower=$!
  followers+=("$follower")
}

prepare_programs() {
  if [ -n "${HAI_BIN:-}" ]; then
    bin=$HAI_BIN
    return
  fi
  heading "Install what it needs and build it"
  "$repository/deploy/install_packages.sh"
  # Not optimised, which is built in half the time; who has built the rest, as the tests do, has better programs.
  local preset=quick
  [ ! -x "$repository/build/release/bin/hai-server" ] || preset=release
  local build=$repository/build/$preset
  bin=$build/bin
  [ -x "$bin/hai-server" ] ||
    say "the first build takes about 5 minutes on two cores; ccache makes later ones quick"
  cd "$repository"  # presets are looked for in the current folder
  export CCACHE_BASEDIR=$repository CCACHE_NOHASHDIR=1
  cmake --preset "$preset" --log-level=WARNING >/dev/null
  local targets=(hai hai-server hai-agent hai-shim)
  ! grep -q '^build web:' "$build/build.ninja" || targets=(web "${targets[@]}")  # the dashboard: needs npm
  ninja -C "$build" "${targets[@]}" |
    awk '!/^\[/ || NR % 25 == 1 { print; fflush() }'
}

start_cluster() {
  began=$SECONDS  # of the story: not of the build
  heading "A cluster on this machine: 4 nodes with 8 simulated GPUs each"
  say "One server with its own PostgreSQL, one agent per node: real processes, only the GPUs are" \
    "simulated." ""
  show hai dev up --name "$cluster" --nodes 4 --gpus 8
  show hai nodes
  data=$(hai dev status -o json | json "it['data']")
  http=$(hai dev status -o json | json "it['http']")
  run=$(date +%H%M%S)
  story=$data/quickstart/$run
  mkdir -p "$story"
  make_room
}

make_room() {  # What an interrupted story left is ours to stop; other jobs are not.
  local old busy job
  old=$(hai list -a --tag quickstart -s queued,running,suspended -o json | ids)
  if [ -n "$old" ]; then
    say "Stopping what an earlier story has left: $old"
    # shellcheck disable=SC2086
    hai stop $old >/dev/null
    for job in $old; do wait_until 90 "job $job stops" has_ended "$job"; done
  fi
  busy=$(hai list -a -s running -o json | ids)
  [ -z "$busy" ] ||
    fail "jobs are running in this cluster ($busy): hai stop them, or play elsewhere: CLUSTER=demo $0"
}

# ---- the story ----

prepare_programs
start_cluster

heading "A training job starts on two nodes"
say "It is real, if small: two processes train one model and exchange gradients at every step." \
  "Its priority is low. (The same training also runs beside hai, in one process that nobody" \
  "interrupts: its weights are for later.)" ""
job_file train low 2 300 1
job_file urgent high 4 80 2
train_beside &
followers+=($!)
show cat "$story/train.yaml"
train=$(submit "$story/train.yaml")
say "hai run has submitted it as job $train." ""
wait_until 30 "job $train runs" runs "$train" 1
follow "$train" train
wait_until 60 "job $train trains 50 steps" has_passed "$train" 50
say ""
show hai status "$train"

heading "Something more important needs all four nodes"
say "The training is asked to suspend. It has 60 s to save and leave, and needs much less." \
  "Nothing is killed." ""
urgent=$(submit "$story/urgent.yaml")
wait_until 90 "job $urgent runs" runs "$urgent" 1
say ""
show hai list
say "Why does the training wait?" ""
show hai why "$train"

heading "The important job is done, the training goes on"
wait_until 90 "job $urgent ends" has_ended "$urgent"
expect_success "$urgent"
wait_until 60 "job $train runs again" runs "$train" 2
say "Attempt 2 was given the checkpoint of attempt 1 and continues where that stopped:" ""
wait_until 60 "job $train trains on" has_passed "$train" 130
say ""
show hai events "$train"

heading "A node dies"
dead=$(hai status "$train" -o json | json "it['nodes'][-1]")
say "kill -9 of everything on $dead: its agent, and the rank of the training that runs there." ""
show hai dev kill "node:$dead"
say "Now patience, about 40 s. The server can't see whether $dead is dead or only cut off and" \
  "still training. A rank ends by itself 30 s after its node last heard from the server; so after" \
  "40 s of silence nothing of the old attempt can be left, and only then the job starts" \
  "elsewhere. No job ever runs twice." ""
wait_until 90 "job $train runs elsewhere" runs "$train" 3
say ""
show hai nodes
show hai status "$train"

heading "The training finishes"
wait_until 120 "job $train ends" has_ended "$train"
expect_success "$train"
wait_until 20 "the log of job $train ends" has_gone "$follower"
wait_until 60 "the uninterrupted run ends" test -s "$story/alone.json"
say ""
show hai events "$train" --kind attempt_placed,attempt_ended,job_finished
say "The weights of the job, after a suspension and a lost node: $(weights "$story/train.json")" \
  "The weights of the uninterrupted run in one process:        $(weights "$story/alone.json")"
[ "$(weights "$story/train.json")" = "$(weights "$story/alone.json")" ] || fail "they differ"
say "" "${green}They are the same, bit for bit.${plain}" "" "The dead node comes back:" ""
show hai dev start "node:$dead"
wait_until 30 "$dead is up" node_is_up "$dead"
stop_followers

heading "Your turn"
say "The cluster stays up. (The story took $((SECONDS - began)) s; its files are in $story.)" ""
[ -n "${HAI_BIN:-}" ] || say "    export PATH=$bin:\$PATH"
cat <<NEXT
    hai exec sleep 60 -- -n 2 --gpus 4          two nodes, four GPUs on each
    hai bash docs/examples/hello.sh -- -f       submit a script, follow its log
    hai list -w                                 watch the jobs, live
    hai drain node-1 --reason "new disk"        move its jobs away; hai undrain node-1
    hai dev kill server; hai dev start server   running jobs notice nothing
    hai dev status; hai dev down                its processes; stop them

The server's page, for a browser: ${bold}$http/${plain}
NEXT
