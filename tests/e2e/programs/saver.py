"""A program that obeys suspend commands: counts its attempts in its whole-life state, reports the
checkpoint it would save, leaves by go_suspend. `done` in its folder ends it well."""

import os
import sys
import time

sys.path.insert(0, os.environ["SDK"])
import hai

folder = sys.argv[1]
starts = int(hai.get_whole_life_state() or 0) + 1
hai.set_whole_life_state(starts)
attempt, checkpoint = os.environ["HAI_ATTEMPT"], os.environ.get("HAI_CHECKPOINT") or "none"
print(f"start {starts}, attempt {attempt}, checkpoint {checkpoint}", flush=True)
step = 0
while not os.path.exists(os.path.join(folder, "done")):
    step += 1
    hai.report_progress(step)
    if hai.receive_suspend_command():
        hai.report_checkpoint(step, os.path.join(folder, f"checkpoint-{starts}"), 0.25)
        print("saved", flush=True)
        hai.go_suspend()
    time.sleep(0.02)
print("done", flush=True)
