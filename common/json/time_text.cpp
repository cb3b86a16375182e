// Times with every microsecond, to and from text, without locale or time zone of the machine.

#include <algorithm>
#include <cstdint>

#include "common/json/json_text.h"

namespace hai {
namespace {

constexpr int64_t kMicrosPerDay = 86'400'000'000;
constexpr int64_t kFirst = -62'135'596'800'000'000;  // 0001-01-01T00:00:00Z, PostgreSQL's too
constexpr int64_t kLast = 253'402'300'799'999'999;   // 9999-12-31T23:59:59.999999Z

void append_digits(std::string& out, int64_t value, int width) {
  char digits[8];
  for (int i = width - 1; i >= 0; --i, value /= 10) digits[i] = static_cast<char>('0' + value % 10);
  out.append(digits, static_cast<size_t>(width));
}

struct Reader {
  std::string_view text;
  bool good = true;

  int64_t number(size_t width) {
    if (text.size() < width) good = false;
    if (!good) return 0;
    int64_t value = 0;
    for (char digit : text.substr(0, width)) {
      good = good && digit >= '0' && digit <= '9';
      value = value * 10 + (digit - '0');
    }
    text.remove_prefix(width);
    return value;
  }
  void sign(char first, char second) {
    good = good && !text.empty() && (text[0] == first || text[0] == second);
    if (good) text.remove_prefix(1);
  }
  // ".5" is 500,000 µs.
  int64_t fraction() {
    if (!good || text.empty() || text[0] != '.') return 0;
    text.remove_prefix(1);
    int64_t micros = 0;
    int64_t unit = 100'000;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; unit /= 10) {
      micros += (text[0] - '0') * unit;
      text.remove_prefix(1);
    }
    return micros;
  }
};

}  // namespace

void append_time(std::string& out, UnixTime time) {
  const int64_t micros = std::clamp(to_micros(time), kFirst, kLast);
  int64_t days = micros / kMicrosPerDay;
  int64_t rest = micros % kMicrosPerDay;
  if (rest < 0) rest += kMicrosPerDay, --days;
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
  append_digits(out, static_cast<int>(date.year()), 4);
  out += '-';
  append_digits(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  append_digits(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  append_digits(out, rest / 3'600'000'000, 2);
  out += ':';
  append_digits(out, rest / 60'000'000 % 60, 2);
  out += ':';
  append_digits(out, rest / 1'000'000 % 60, 2);
  out += '.';
  append_digits(out, rest % 1'000'000, 6);
  out += 'Z';
}

std::optional<UnixTime> parse_time(std::string_view text) {
  Reader reader{text};
  const auto year = static_cast<int>(reader.number(4));
  reader.sign('-', '-');
  const auto month = static_cast<unsigned>(reader.number(2));
  reader.sign('-', '-');
  const auto day = static_cast<unsigned>(reader.number(2));
  reader.sign('T', ' ');
  const int64_t hours = reader.number(2);
  reader.sign(':', ':');
  const int64_t minutes = reader.number(2);
  reader.sign(':', ':');
  const int64_t seconds = reader.number(2);
  const int64_t micros = reader.fraction();
  if (!reader.good || (reader.text != "Z" && reader.text != "+00")) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok() || hours > 23 || minutes > 59 || seconds > 59) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t second = (hours * 60 + minutes) * 60 + seconds;
  return unix_micros(days * kMicrosPerDay + second * 1'000'000 + micros);
}

}  // namespace hai
