#include "cli/time_option.h"

#include "cli/format.h"

namespace hai::cli {

Result<UnixTime> read_time_option(std::string_view option, const std::string& text, FromNow way) {
  const Result<Duration> duration = parse_duration(text);
  if (duration.is_ok()) {
    return way == FromNow::ahead ? wall_now() + duration.value() : wall_now() - duration.value();
  }
  const Result<UnixTime> time = parse_rfc3339(text);
  if (time.is_ok()) return time.value();
  return invalid_argument("{} {}: write it like 2h or 2026-11-20T08:00:00Z", option, text);
}

}  // namespace hai::cli
