#pragma once
// One choice of the explorer: what happens next.

#include <compare>
#include <cstdint>
#include <vector>

namespace hai {

struct Step {
  enum class Kind : uint8_t {
    deliver,  // the message under way that was sent first
    hold,
    lose,
    repeat,
    release,    // the held message `which`
    pass_time,  // to the next moment at which something falls due
    pause_agent,
    wake_agent,
    restart_agent,
    cut,
    mend,
    part,
    join,
    break_stream,
    pause_server,
    wake_server,
    crash_server,
    start_server,
    slip_clock,
    stop_job,
    end_program,
    calm,  // all is healed, and no fault comes any more
  };
  Kind kind = Kind::pass_time;
  uint8_t which = 0;  // node, server or held message
  auto operator<=>(const Step&) const = default;
};
using Path = std::vector<Step>;

}  // namespace hai
