#pragma once
// Runs a recorded log through the production code, event by event: each must fit the state before
// it, the invariants must hold after each turn, and each planning pass must come out again as it
// was recorded (pass_check.h). Memory follows what is alive.
//
// A turn of the controller is what shares a time; its pass, whose actor is "scheduler", comes last.

#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "sim/replay/pass_check.h"

namespace hai {

struct ReplayLogOptions {
  bool decisions = true;    // false: only the state
  bool every_turn = false;  // also ask what a pass would have decided where none did
  bool strict = false;      // invariants after every turn, whatever it costs
};

class LogReplay {
 public:
  explicit LogReplay(ReplayLogOptions options) : options_(options), pass_check_(state_, report_) {}

  // `data_loss` for an event that does not fit: nothing can follow it.
  Status add(Event event);
  Status finish();
  const ReplayReport& report() const { return report_; }
  const ClusterState& state() const { return state_; }

 private:
  struct Idle {
    int64_t seq = 0;
    UnixTime time{};
    std::string decides;
  };
  bool begins_turn(const Event& event) const;
  Status end_turn();
  Status apply(const Event& event);
  void check_invariants();
  void note_overcommit(const std::string& violation);
  void look_for_idle(UnixTime time);
  void settle_idle(UnixTime now, bool decided);

  const ReplayLogOptions options_;
  ClusterState state_;
  ReplayReport report_;
  PassCheck pass_check_;
  std::vector<Event> turn_;
  std::optional<Idle> idle_;
  bool is_overcommit_noted_ = false;
  int64_t unchecked_ = 0;  // events since the invariants were last looked at
};

}  // namespace hai
