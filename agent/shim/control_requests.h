#pragma once
// What the agent asks of a shim, one line of JSON each: {"op":"suspend","grace_us":N,
// "tell_by_signal":true},
// {"op":"continue"}, {"op":"kill"},
// {"op":"lease","until_boottime_us":N}, {"op":"note","text":"…"}. All but the last may be repeated.
// The answer is {"ok":true} or
// {"ok":false,"error":"…"}; statuses are pushed apart from it.

#include <string>
#include <string_view>

#include "common/time.h"

namespace hai {

class ControlPort {
 public:
  virtual ~ControlPort() = default;
  virtual void suspend(Duration grace, bool tell_by_signal) = 0;
  virtual void go_on() = 0;
  virtual void kill() = 0;
  virtual void extend_lease(MonoTime until) = 0;
  // Adds lines of the agent's to the rank's log.
  virtual void write_log(const std::string& text) = 0;
};

std::string answer_control_request(std::string_view line, ControlPort& port);

}  // namespace hai
