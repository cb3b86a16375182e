#include "cli/slurm/slurm_time.h"

#include <fmt/core.h>

#include <array>
#include <ctime>
#include <vector>

#include "common/whole_number.h"

namespace hai::cli::slurm {
namespace {

constexpr int64_t kNumberMax = 100'000'000;

std::optional<int64_t> number_of(std::string_view text) {
  const std::optional<int64_t> number = whole_number(text);
  return number && *number >= 0 && *number <= kNumberMax ? number : std::nullopt;
}

// "12:30" -> {12, 30}; nothing if a part is no number.
std::optional<std::vector<int64_t>> numbers_of(std::string_view text) {
  std::vector<int64_t> numbers;
  for (;;) {
    const size_t colon = text.find(':');
    const auto number = number_of(text.substr(0, colon));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
    if (colon == std::string_view::npos) return numbers;
    text.remove_prefix(colon + 1);
  }
}

std::tm local_parts(UnixTime time) {
  const std::time_t seconds = static_cast<std::time_t>(to_micros(time) / 1'000'000);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return parts;
}

std::string format_local(int64_t micros, const char* form) {
  const std::tm parts = local_parts(unix_micros(micros));
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), form, &parts);
  return text.data();
}

UnixTime time_of(std::tm parts) {
  parts.tm_isdst = -1;
  return unix_micros(static_cast<int64_t>(std::mktime(&parts)) * 1'000'000);
}

struct ClockTime {
  int64_t hour = 0, minute = 0, second = 0;
};

std::optional<ClockTime> clock_time_of(std::string_view text) {
  const auto numbers = numbers_of(text);
  if (!numbers || numbers->size() < 2 || numbers->size() > 3) return std::nullopt;
  const ClockTime time = {(*numbers)[0], (*numbers)[1], numbers->size() > 2 ? (*numbers)[2] : 0};
  const bool is_real = time.hour < 24 && time.minute < 60 && time.second < 60;
  return is_real ? std::optional(time) : std::nullopt;
}

UnixTime at_clock(std::tm day, ClockTime time) {
  day.tm_hour = static_cast<int>(time.hour);
  day.tm_min = static_cast<int>(time.minute);
  day.tm_sec = static_cast<int>(time.second);
  return time_of(day);
}

UnixTime next_clock(UnixTime now, ClockTime time) {
  std::tm day = local_parts(now);
  const UnixTime today = at_clock(day, time);
  if (today > now) return today;
  ++day.tm_mday;
  return at_clock(day, time);
}

// "+2hours", "-7days", "+90" (seconds).
std::optional<Duration> offset_of(std::string_view text) {
  if (text.empty()) return Duration(0);
  if (text[0] != '+' && text[0] != '-') return std::nullopt;
  const int sign = text[0] == '-' ? -1 : 1;
  const size_t unit_at = std::min(text.find_first_not_of("0123456789", 1), text.size());
  const auto count = number_of(text.substr(1, unit_at - 1));
  if (!count) return std::nullopt;
  struct Unit {
    std::string_view name;
    Duration length;
  };
  constexpr auto kUnits = std::to_array<Unit>(
      {{"seconds", 1s}, {"minutes", 1min}, {"hours", 1h}, {"days", 24h}, {"weeks", 7 * 24h}});
  const std::string_view unit = text.substr(unit_at);
  if (unit.empty()) return sign * *count * Duration(1s);
  for (const Unit& known : kUnits) {
    const std::string_view singular = known.name.substr(0, known.name.size() - 1);
    if (unit != known.name && unit != singular) continue;
    // Nothing begins in more than a century, and no product must overflow.
    if (*count > Duration(24h * 36'525) / known.length) return std::nullopt;
    return sign * *count * known.length;
  }
  return std::nullopt;
}

// "2026-11-20" and what may follow it.
std::optional<UnixTime> date_of(std::string_view text) {
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = number_of(text.substr(0, 4));
  const auto month = number_of(text.substr(5, 2));
  const auto day = number_of(text.substr(8, 2));
  if (!year || !month || !day || *year < 1970) return std::nullopt;
  const std::chrono::year_month_day date = std::chrono::year(static_cast<int>(*year)) /
                                           static_cast<unsigned>(*month) /
                                           static_cast<unsigned>(*day);
  if (!date.ok()) return std::nullopt;
  ClockTime time;
  if (text.size() > 10) {
    const auto clock = text[10] == 'T' ? clock_time_of(text.substr(11)) : std::nullopt;
    if (!clock) return std::nullopt;
    time = *clock;
  }
  std::tm parts{};
  parts.tm_year = static_cast<int>(*year) - 1900;
  parts.tm_mon = static_cast<int>(*month) - 1;
  parts.tm_mday = static_cast<int>(*day);
  return at_clock(parts, time);
}

}  // namespace

Result<Duration> parse_time_limit(std::string_view text) {
  const Status bad = invalid_argument(
      "time limit '{}': write minutes, M:S, H:M:S, D-H, D-H:M or D-H:M:S", text.substr(0, 64));
  if (text == "infinite" || text == "INFINITE" || text == "unlimited" || text == "UNLIMITED") {
    return Duration(0);
  }
  int64_t days = 0;
  const size_t dash = text.find('-');
  if (dash != std::string_view::npos) {
    const auto number = number_of(text.substr(0, dash));
    if (!number) return bad;
    days = *number;
    text.remove_prefix(dash + 1);
  }
  const auto numbers = numbers_of(text);
  if (!numbers || numbers->size() > 3) return bad;
  const auto at = [&](size_t i) { return i < numbers->size() ? (*numbers)[i] : 0; };
  int64_t seconds = 0;
  if (dash != std::string_view::npos) {
    seconds = days * 86'400 + at(0) * 3'600 + at(1) * 60 + at(2);
  } else if (numbers->size() == 3) {
    seconds = at(0) * 3'600 + at(1) * 60 + at(2);
  } else {
    seconds = at(0) * 60 + at(1);
  }
  return seconds * Duration(1s);
}

Result<UnixTime> parse_begin_time(std::string_view text, UnixTime now) {
  if (text.starts_with("now")) {
    if (const auto offset = offset_of(text.substr(3))) return now + *offset;
  } else if (text == "today") {
    return now;
  } else if (text == "tomorrow" || text == "midnight") {
    return next_clock(now, {0, 0, 0});
  } else if (text == "noon") {
    return next_clock(now, {12, 0, 0});
  } else if (text == "teatime") {
    return next_clock(now, {16, 0, 0});
  } else if (const auto clock = clock_time_of(text)) {
    return next_clock(now, *clock);
  } else if (const auto date = date_of(text)) {
    return *date;
  }
  return invalid_argument(
      "begin time '{}': write now+2hours, 16:00, 2026-11-20T08:00, tomorrow, midnight or noon",
      text.substr(0, 64));
}

std::string format_elapsed(Duration time) {
  const int64_t seconds = std::max<int64_t>(0, time / 1s);
  const int64_t days = seconds / 86'400;
  const int64_t hours = seconds / 3'600 % 24;
  const std::string rest = fmt::format("{:02}:{:02}", seconds / 60 % 60, seconds % 60);
  if (days > 0) return fmt::format("{}-{:02}:{}", days, hours, rest);
  if (hours > 0) return fmt::format("{}:{}", hours, rest);
  return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
}

std::string format_clock(Duration time) {
  const int64_t seconds = std::max<int64_t>(0, time / 1s);
  const std::string clock =
      fmt::format("{:02}:{:02}:{:02}", seconds / 3'600 % 24, seconds / 60 % 60, seconds % 60);
  return seconds < 86'400 ? clock : fmt::format("{}-{}", seconds / 86'400, clock);
}

std::string format_clock_time(int64_t micros) { return format_local(micros, "%Y-%m-%dT%H:%M:%S"); }

std::string format_date(int64_t micros) { return format_local(micros, "%a %b %d %H:%M:%S %Y"); }

}  // namespace hai::cli::slurm
