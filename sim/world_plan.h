#pragma once
// A simulated world told in full: what it is made of, what is done in it, and when. It runs the
// same way every time; it can be written to a file, changed, and shrunk. A seed's world is recorded
// as one (ChaosOptions::record), draw by draw.

#include <cstdint>
#include <string>
#include <vector>

#include "common/knobs.h"
#include "common/status.h"
#include "sim/act.h"
#include "sim/deed.h"
#include "sim/dice.h"

namespace hai {

// At a time, or so long after the nth of a decision point from that time on.
struct When {
  Duration at{0};  // virtual time
  int point = -1;  // of decision_points.h; -1 = at the time itself
  int node = -1;   // of the point; -1 = any
  int nth = 1;
  Duration after{0};
  bool operator==(const When&) const = default;
};

struct PlannedDeed {
  static constexpr int kThere = -1;  // as target: the node of the decision point
  When when;
  Deed deed;
  int strike = 0;  // deeds of one fault have one number
  bool operator==(const PlannedDeed&) const = default;
};
struct PlannedAct {
  When when;
  Act act;
};
// The message that leaves at this decision point arrives after so many others of its direction.
struct PlannedHold {
  When when;
  int arrivals = 1;
  bool operator==(const PlannedHold&) const = default;
};

struct WorldPlan {
  int nodes = 5;
  int leaves = 2;
  Duration chaos{0};   // then all is healed
  uint64_t noise = 0;  // seeds the draws that the tape does not name; 0 = they are calm
  int64_t drift_ppm_max = 0;
  int64_t launch_failures_ppm = 0;
  bool store_can_be_slow = false;  // checkers bear appends of Deeds::kSlowest
  bool store_can_go_back = false;
  NetworkModel network;
  Knobs knobs;
  std::vector<PlannedDeed> deeds;  // each list in the order in which it was made
  std::vector<PlannedAct> acts;
  std::vector<PlannedHold> holds;
  std::vector<Drawn> tape;
};

// One line per item; to_plan takes exactly what to_text gives, and comments (#). invalid_argument
// names the line.
std::string to_text(const WorldPlan& plan);
Result<WorldPlan> to_plan(const std::string& text);

}  // namespace hai
