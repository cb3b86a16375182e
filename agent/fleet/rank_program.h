#pragma once
// What the program of a rank would do, told from its name: a fleet runs none. Pure.

#include <optional>

#include "common/agent_messages.h"
#include "common/time.h"

namespace hai {

struct RankProgram {
  std::optional<Duration> length;  // nullopt = it ends only when it is told to
  int exit_code = 0;
  bool operator==(const RankProgram&) const = default;
};

// `sleep 5`, `sleep 0.2 1m`, `true` and `false` by any path are what they are; a validation takes a
// second; all other programs run for `other_length` and exit 0.
RankProgram program_of(const LaunchRank& order, std::optional<Duration> other_length);

}  // namespace hai
