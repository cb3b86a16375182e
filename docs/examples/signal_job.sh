#!/bin/bash
# A program without the SDK: a signal asks it to suspend, leaving is the answer.
# usage: signal_job.sh [COUNT_TO [SECONDS_PER_COUNT]]
set -u
count_to=${1:-60} seconds=${2:-1}
file="checkpoints/${HAI_JOB_NAME:-signal_job}-${HAI_JOB_ID:-0}/count"
mkdir -p "$(dirname "$file")"

save() {  # Whole or not at all: the rename is atomic.
  echo "$count" > "$file.tmp" && mv "$file.tmp" "$file"
}

suspend() {
  save
  echo "saved at $count, leaving"
  exit 0  # After the notice any exit code means suspended.
}

count=0
[ -r "$file" ] && count=$(<"$file")
trap suspend USR1  # Only now: a signal before would save a count that was never read.
echo "counting from $count to $count_to"
while [ "$count" -lt "$count_to" ]; do
  # `wait` returns at once when the signal comes; a plain sleep would hold the trap back until its end.
  sleep "$seconds" & wait $!
  count=$((count + 1))
  echo "count $count"
done
save
echo "done"
