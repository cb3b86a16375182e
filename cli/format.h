#pragma once
// Short forms of numbers and times for people.

#include <string>
#include <string_view>
#include <vector>

#include "common/time.h"

namespace hai::cli {

inline UnixTime wall_now() {
  return UnixTime(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

std::string short_duration(
    Duration duration);  // "12s", "3m12s", "5h12m", "3d4h"; "0s" below one second
// As short as the day allows: "08:00:00", "11-20 08:00", "2025-11-20".
std::string short_time(int64_t micros, UnixTime now);
std::string local_time(int64_t micros);  // "2026-11-20 08:00:00" where the reader is
std::string short_bytes(int64_t bytes);  // "512 MiB"
std::string join(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace hai::cli
