#include "sim/latency.h"

#include <fmt/core.h>

namespace hai {

std::optional<std::string> InputWait::answered() const {
  const ControllerStats& stats = controller_->stats();
  if (stats.step_downs != step_downs_ || stats.turns - turns_ <= turns_needed_) return std::nullopt;
  return fmt::format("an input waited for {} turns, {} were needed", stats.turns - turns_,
                     turns_needed_);
}

}  // namespace hai
