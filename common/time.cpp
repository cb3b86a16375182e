#include "common/time.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "common/ascii.h"

namespace hai {
namespace {

struct Unit {
  std::string_view name;
  Duration length;
};
// Longest first, so that format_duration takes the largest unit that fits.
constexpr std::array<Unit, 6> kUnits = {
    {{"d", 24h}, {"h", 1h}, {"m", 1min}, {"s", 1s}, {"ms", 1ms}, {"us", 1us}}};
constexpr Duration kDurationMax = 24h * 3653;  // 10 years

const Unit* find_unit(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

Status bad_duration(std::string_view text) {
  return invalid_argument("duration '{}': write it like 90s, 5m, 1h30m, 250ms or 2d",
                          text.substr(0, 64));
}

// Reads exactly `digits` decimal digits from the front of `text`.
bool take_number(std::string_view& text, size_t digits, int& out) {
  if (text.size() < digits) return false;
  out = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (!is_digit(text[i])) return false;
    out = out * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return true;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// A fraction of a second; digits below a microsecond are dropped.
bool take_fraction(std::string_view& text, Duration& out) {
  out = Duration(0);
  if (!take(text, ".")) return true;
  int64_t scale = 100'000;
  size_t digits = 0;
  while (!text.empty() && is_digit(text.front())) {
    out += Duration((text.front() - '0') * scale);
    scale /= 10;
    ++digits;
    text.remove_prefix(1);
  }
  return digits > 0;
}

bool take_offset(std::string_view& text, Duration& out) {
  out = Duration(0);
  if (take(text, "Zz")) return true;
  const bool is_behind = !text.empty() && text.front() == '-';
  int hours = 0;
  int minutes = 0;
  if (!take(text, "+-") || !take_number(text, 2, hours) || !take(text, ":") ||
      !take_number(text, 2, minutes) || hours > 23 || minutes > 59) {
    return false;
  }
  out = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  if (is_behind) out = -out;
  return true;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  std::string_view rest = text;
  if (rest.empty()) return bad_duration(text);
  Duration total{0};
  Duration last_unit = Duration::max();
  while (!rest.empty()) {
    size_t digits = 0;
    while (digits < rest.size() && is_digit(rest[digits])) ++digits;
    int64_t count = 0;
    const auto parsed = std::from_chars(rest.data(), rest.data() + digits, count);
    if (digits == 0 || (parsed.ec != std::errc() && parsed.ec != std::errc::result_out_of_range)) {
      return bad_duration(text);
    }
    rest.remove_prefix(digits);
    size_t letters = 0;
    while (letters < rest.size() && !is_digit(rest[letters])) ++letters;
    const bool is_bare_number =
        letters == 0 && total == Duration(0) && rest.empty() && last_unit == Duration::max();
    const Unit* unit = find_unit(is_bare_number ? "s" : rest.substr(0, letters));
    // Each unit once, largest first: "5m1h" is more likely a slip than a wish.
    if (unit == nullptr || unit->length >= last_unit) return bad_duration(text);
    if (parsed.ec != std::errc() || count > (kDurationMax - total) / unit->length) {
      return invalid_argument("duration '{}' is above 10 years", text.substr(0, 64));
    }
    total += count * unit->length;
    last_unit = unit->length;
    rest.remove_prefix(letters);
  }
  return total;
}

std::string format_duration(Duration duration) {
  if (duration == Duration(0)) return "0s";
  std::string text;
  if (duration < Duration(0)) {
    text = "-";
    duration = -duration;
  }
  for (const Unit& unit : kUnits) {
    const int64_t count = duration / unit.length;
    if (count == 0) continue;
    text += fmt::format("{}{}", count, unit.name);
    duration -= count * unit.length;
  }
  return text;
}

Result<UnixTime> parse_rfc3339(std::string_view text) {
  const Status bad =
      invalid_argument("time '{}': write it like 2026-11-20T08:00:00Z", text.substr(0, 64));
  std::string_view rest = text;
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  Duration fraction{0};
  Duration offset{0};
  if (!take_number(rest, 4, year) || !take(rest, "-") || !take_number(rest, 2, month) ||
      !take(rest, "-") || !take_number(rest, 2, day) || !take(rest, "Tt ") ||
      !take_number(rest, 2, hour) || !take(rest, ":") || !take_number(rest, 2, minute) ||
      !take(rest, ":") || !take_number(rest, 2, second) || !take_fraction(rest, fraction) ||
      !take_offset(rest, offset) || !rest.empty()) {
    return bad;
  }
  const auto date = std::chrono::year(year) / month / day;
  if (!date.ok() || hour > 23 || minute > 59 || second > 60) return bad;  // 60: a leap second
  const Duration since_1970 = std::chrono::sys_days(date).time_since_epoch() +
                              std::chrono::hours(hour) + std::chrono::minutes(minute) +
                              std::chrono::seconds(second) + fraction - offset;
  return UnixTime(since_1970);
}

std::string format_rfc3339(UnixTime time) {
  // The years that RFC 3339 can write; others are their first or last moment.
  constexpr UnixTime kFirst = unix_micros(-62'167'219'200'000'000);
  constexpr UnixTime kLast = unix_micros(253'402'300'799'999'999);
  time = std::clamp(time, kFirst, kLast);
  const auto days = std::chrono::floor<std::chrono::days>(time.time_since_epoch());
  const std::chrono::year_month_day date{std::chrono::sys_days(days)};
  const int64_t millis = (time.time_since_epoch() - days) / 1ms;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     millis / 3'600'000, millis / 60'000 % 60, millis / 1'000 % 60, millis % 1'000);
}

}  // namespace hai
