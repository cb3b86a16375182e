#pragma once
// Every number an operator may turn, with its legal range (docs/contract.md, Knobs). The simulator
// draws them at random.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/time.h"

namespace hai {

// The order of jobs of one level (docs/contract.md, Scheduling).
enum class Policy {
  fifo,      // custom rank, submit order; nobody of the same level is interrupted
  feedback,  // who had least GPU time goes first, and takes turns with who had more
};
std::string_view to_string(Policy policy);

struct Knobs {
  Duration heartbeat = 5s;  // an agent reports at least this often
  // Ranks run at most this long after the last report the server answered.
  Duration agent_lease = 30s;
  // A node silent for so long is down, if it has surely ended its ranks.
  Duration down_after = 40s;
  Duration server_lease = 2s;     // a leader that cannot renew for so long stops
  Duration resend_after = 3s;     // an order that shows no effect is sent again
  Duration launch_timeout = 60s;  // a gang whose ranks are not all running by then is rolled back
  // The same of a gang in a container image, which its nodes may have to fetch and unpack first.
  Duration image_timeout = 2h;
  Duration plan_period = 1s;     // plan at least so often
  Duration plan_gap = 5ms;       // and at most so often, so that a burst of changes shares a pass
  Duration tight_wait = 60s;     // a job's max_leaves binds it for so long, then any fit will do
  Duration min_quantum = 30min;  // a job runs so long before its own level may interrupt it
  Duration feedback_base = 1h;   // GPU time of the lowest feedback class; each one doubles it
  Duration promote_after = 1h;   // waiting so long lifts a job by one feedback class
  // After it a gang may take nodes back from its user's own jumpers.
  Duration reserve_after = 10min;
  Duration usage_half_life = 168h;          // of the GPU time that orders users of one class
  Duration checkpoint_patience = 60s;       // a victim that saves within it is waited for
  Duration assumed_checkpoint_age = 30min;  // charged to jobs that report no checkpoints
  Duration above_normal_lasts = 30min;      // of running; then above_normal counts as normal
  Duration attribution_before = 10min;  // a fault explains what fails on its node so long after it
  Duration attribution_after = 5min;    // and what failed there so long before it was seen
  Duration early_failure = 10min;       // an attempt that ends sooner says something of its job
  // Faults of what nodes share are acted upon after it, if few have them.
  Duration fault_patience = 10s;
  Duration validate_period = 168h;   // each node is validated so often; 0 = never
  Duration validate_deadline = 72h;  // so late, a node that is never free is taken out for it
  Duration validation_timeout = 30min;
  Duration hook_timeout = 20min;  // a reset or reboot that has not brought the node back
  Policy policy = Policy::feedback;
  int mass_loss_permille = 50;     // so many of the nodes silent at once: the network is suspected
  int switch_share_permille = 20;  // a quantum is so long that save and restart take no more of it
  int interrupt_percent = 5;       // GPU time a job may cost its own level, of what it has waited
  // So many of a leaf with the same fault in a minute: not the nodes' own.
  int mass_fault_nodes = 3;
  // A node with so much against it in 28 days goes to service; 0 = never.
  int lemon_score = 10;
  int repair_rounds = 2;     // hooks tried before a node goes to service
  int max_validations = 20;  // at a time, of nodes that take jobs
  int max_cross_zone_jobs = 1;
  int defrag_moves_per_hour = 240;  // running jobs moved to make whole nodes; 0 = never
  int max_requeues = 10;
  int max_unfinished_jobs_per_user = 10'000;
  // Nodes of unfinished jobs that make room for nobody (`interactive`): of all users, and of one.
  int interactive_nodes = 0;
  int interactive_nodes_per_user = 1;
  // Finished jobs kept in memory; older ones are read from the store.
  int finished_jobs_kept = 10'000;
  int append_batch_max = 2'000;  // inputs taken into one append
};

// One named knob as data: for config files, --help and the simulator.
struct KnobRange {
  std::string name;
  int64_t low = 0;  // microseconds for durations
  int64_t high = 0;
  bool is_duration = false;
  std::string legal;               // what people read: "1s..1h", "0.1%..100%", "fifo, feedback"
  bool is_percent = false;         // low and high in tenths of a percent
  std::vector<std::string> words;  // if not empty, the values there are; low and high mean nothing
};
const std::vector<KnobRange>& knob_ranges();

// Sets a knob by name; durations in parse_duration's form, shares as "2%" or "0.5%". Unknown name
// or out of range: invalid_argument.
Status set_knob(Knobs& knobs, const std::string& name, const std::string& value);
// invalid_argument, naming the nearest, if there is no such knob.
Status check_knob_name(const std::string& name);
// The reverse: a text that set_knob takes. The knob must be one of knob_ranges().
std::string get_knob(const Knobs& knobs, const std::string& name);
// All of them by name.
std::map<std::string, std::string> knobs_as_text(const Knobs& knobs);
// False for leases and fences, on which all servers and agents must agree, and for what is set up
// once at the start: only the config sets those, and a restart takes them over.
bool may_change_while_running(const std::string& knob);
// Relations between knobs, e.g. down_after > agent_lease.
Status check_knobs(const Knobs& knobs);

}  // namespace hai
