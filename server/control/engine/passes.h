#pragma once
// When the planner is asked, and that nothing starts before a term has heard of its nodes. Owned by
// the controller, used on the loop's thread.

#include <functional>
#include <optional>

#include "common/knobs.h"
#include "common/loop_scope.h"
#include "server/control/engine/controller_stats.h"
#include "server/control/engine/memory.h"
#include "server/model/decision.h"

namespace hai {

class Passes {
 public:
  Passes(Loop& loop, const Knobs& knobs, Memory& memory, ControllerStats& stats)
      : loop_(loop), knobs_(knobs), memory_(memory), stats_(stats), timer_(loop) {}

  void begin_term();
  void end_term();
  // Something has changed that a plan may go by.
  void want() { is_wanted_ = true; }
  bool is_due() const;
  // Plans and carries the plan out; what it decides is emitted.
  void run(Decision& decision);
  // Calls `due` when the next pass is, if one is wanted.
  void wake_when_due(std::function<void()> due);

  // Asked before passes and before orders leave.
  void note_who_was_heard();
  // Nothing new starts: something is missing, or the term has just begun and nodes are to report.
  bool is_listening() const { return !heard_all_ || memory_.history.lost(); }

 private:
  Duration gap() const;

  Loop& loop_;
  const Knobs& knobs_;
  Memory& memory_;
  ControllerStats& stats_;

  bool heard_all_ = false;  // has_heard_all() in this term
  bool is_wanted_ = false;
  std::optional<MonoTime> last_at_;
  LoopTimer timer_;
};

}  // namespace hai
