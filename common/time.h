#pragma once
// Times as strong types. There is no now() here on purpose: pure code gets `now` as an argument,
// and everything else asks its Loop. UnixTime counts wall time since 1970 (UTC); MonoTime never
// jumps and means nothing outside one host.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/status.h"

namespace hai {

using Duration = std::chrono::microseconds;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""h;

struct UnixClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<UnixClock>;
  static constexpr bool is_steady = false;
};
struct MonoClock {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<MonoClock>;
  static constexpr bool is_steady = true;
};
using UnixTime = UnixClock::time_point;
using MonoTime = MonoClock::time_point;

inline constexpr UnixTime unix_micros(int64_t micros) { return UnixTime(Duration(micros)); }
inline constexpr int64_t to_micros(UnixTime time) { return time.time_since_epoch().count(); }

// "90s", "5m", "1h30m", "250ms", "2d", "0"; a bare number means seconds. Negative or above 10
// years: invalid_argument.
Result<Duration> parse_duration(std::string_view text);
// The shortest exact form: "1h30m", "250ms", "0s".
std::string format_duration(Duration duration);

// RFC 3339, e.g. "2026-11-20T08:00:00Z"; fractions and numeric offsets are accepted.
Result<UnixTime> parse_rfc3339(std::string_view text);
// RFC 3339 in UTC with milliseconds: "2026-11-20T08:00:00.000Z". Of the years 0000 to 9999; what is
// outside of them is written as their first or last moment.
std::string format_rfc3339(UnixTime time);

}  // namespace hai
