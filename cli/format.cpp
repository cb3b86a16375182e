#include "cli/format.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <ctime>

namespace hai::cli {
namespace {

std::tm local_parts(int64_t micros) {
  const std::time_t seconds = static_cast<std::time_t>(micros / 1'000'000);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return parts;
}

std::string format_time(const std::tm& parts, const char* form) {
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), form, &parts);
  return text.data();
}

}  // namespace

std::string short_duration(Duration duration) {
  const int64_t seconds = std::max<int64_t>(0, duration / 1s);
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  if (seconds < 86'400) return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
  return fmt::format("{}d{}h", seconds / 86'400, seconds / 3600 % 24);
}

std::string local_time(int64_t micros) {
  return format_time(local_parts(micros), "%Y-%m-%d %H:%M:%S");
}

std::string short_time(int64_t micros, UnixTime now) {
  const std::tm then = local_parts(micros);
  const std::tm today = local_parts(to_micros(now));
  if (then.tm_year != today.tm_year) return format_time(then, "%Y-%m-%d");
  return format_time(then, then.tm_yday == today.tm_yday ? "%H:%M:%S" : "%m-%d %H:%M");
}

std::string short_bytes(int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 || value >= 10 ? fmt::format("{:.0f} {}", value, kUnits[unit])
                                  : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

}  // namespace hai::cli
