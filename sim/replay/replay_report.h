#pragma once
// What replaying a log has shown.

#include <cstdint>
#include <string>
#include <vector>

#include "server/model/digest.h"

namespace hai {

// An event that the planner decides otherwise: as lines of a log, "" for none.
struct Difference {
  int64_t seq = 0;
  std::string expected;  // what the planner decides now
  std::string got;       // what the log has
};

struct ReplayReport {
  int64_t events = 0;
  int64_t turns = 0;
  int64_t epochs = 0;
  int64_t passes = 0;   // planning passes that were made again
  int64_t decided = 0;  // events in them
  int64_t last_seq = 0;
  uint64_t log_digest = kDigestStart;  // of all events, in order
  uint64_t state_digest = 0;           // of the state after the last
  // Invariants that a turn has broken, and differences; at most kReplayFindingsMax of each.
  std::vector<std::string> violations;
  std::vector<Difference> differences;
  int64_t difference_count = 0;
  // Turns after which a pass would have decided something that the log never has (every_turn).
  std::vector<std::string> idle_turns;
  int64_t idle_turn_count = 0;
  std::vector<std::string> notes;  // what was assumed

  bool is_clean() const { return violations.empty() && difference_count == 0; }
};

inline constexpr size_t kReplayFindingsMax = 20;

}  // namespace hai
