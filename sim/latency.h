#pragma once
// latency: no input waits longer than the append under way and its own turn, however many wait with
// it: only as many before it as a turn takes of commands, when reports fill the rest, make it wait
// for one turn more.

#include <optional>
#include <string>

#include "server/control/engine/controller.h"

namespace hai {

// One input, from just before it is posted.
class InputWait {
 public:
  explicit InputWait(const Controller& controller)
      : controller_(&controller),
        step_downs_(controller.stats().step_downs),
        turns_(controller.stats().turns),
        turns_needed_(1 + static_cast<int64_t>(controller.waiting_inputs()) /
                              Turns::share_of_people(controller.knobs().append_batch_max)) {}

  // Its answer comes now, from the same controller. What is wrong with that, if anything.
  std::optional<std::string> answered() const;

 private:
  const Controller* controller_;
  int64_t step_downs_;
  int64_t turns_;
  int64_t turns_needed_;
};

}  // namespace hai
