#pragma once
// An event as one line of JSON, as logs are exported, archived and replayed:
//   {"seq":17,"time":"2026-11-20T08:00:00.123456Z","actor":"ann","kind":"job_held","body":{…}}

#include <string>
#include <string_view>

#include "common/status.h"
#include "server/model/event.h"

namespace hai {

std::string event_line(const Event& event);  // without the line's end
// `invalid_argument` naming what is wrong with it.
Result<Event> event_from_line(std::string_view line);

}  // namespace hai
