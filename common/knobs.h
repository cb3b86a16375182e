#pragma once
// Every number an operator may turn, with its legal range (design §4). The simulator draws them at random.

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/time.h"

namespace hai {

struct Knobs {
  Duration heartbeat = 5s;         // an agent reports at least this often
  Duration agent_lease = 30s;      // ranks run at most this long after the last report the server answered
  Duration down_after = 40s;       // a node silent for so long is down; must exceed agent_lease
  Duration server_lease = 2s;      // a leader that cannot renew for so long stops
  Duration resend_after = 3s;      // an order that shows no effect is sent again
  Duration launch_timeout = 60s;   // a gang whose ranks are not all running by then is rolled back
  Duration assumed_checkpoint_age = 30min;  // charged to jobs that report no checkpoints
  Duration plan_period = 1s;       // plan at least so often
  Duration plan_gap = 5ms;         // and at most so often, so that a burst of changes shares a pass
  Duration tight_wait = 60s;       // a job's max_leaves binds it for so long, then any fit will do
  int max_requeues = 10;
  int max_unfinished_jobs_per_user = 10'000;
  int finished_jobs_kept = 10'000;  // finished jobs kept in memory; older ones are read from the store
  int append_batch_max = 2'000;     // inputs taken into one append
};

// One named knob as data: for config files, --help and the simulator.
struct KnobRange {
  std::string name;
  int64_t low = 0;  // microseconds for durations
  int64_t high = 0;
  bool is_duration = false;
};
const std::vector<KnobRange>& knob_ranges();

// Sets a knob by name; durations in parse_duration's form. Unknown name or out of range: invalid_argument.
Status set_knob(Knobs& knobs, const std::string& name, const std::string& value);
// Relations between knobs, e.g. down_after > agent_lease.
Status check_knobs(const Knobs& knobs);

}  // namespace hai
