#include "agent/health/kernel_record.h"

#include <charconv>

namespace hai {

namespace {

constexpr int64_t kSecondsMax = int64_t{100} * 365 * 86'400;

// Takes a number off the front; none leaves the text as it was.
std::optional<int64_t> take_number(std::string_view& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// The lowest three bits say how bad it is.
int64_t facility_of(int64_t priority) { return priority >> 3; }

// "6,1234,5678901,-;text"; more fields may stand before the semicolon.
std::optional<KernelRecord> parse_device_form(std::string_view text) {
  const std::optional<int64_t> priority = take_number(text);
  if (!priority || !take(text, ',')) return std::nullopt;
  const std::optional<int64_t> sequence = take_number(text);
  if (!sequence || !take(text, ',')) return std::nullopt;
  const std::optional<int64_t> micros = take_number(text);
  const size_t semicolon = text.find(';');
  if (!micros || *micros > kSecondsMax * 1'000'000 || semicolon == std::string_view::npos)
    return std::nullopt;
  return KernelRecord{.sequence = sequence,
                      .since_boot = Duration(*micros),
                      .facility = facility_of(*priority),
                      .text = std::string(text.substr(semicolon + 1))};
}

// "[ 5678.901234] " or any other time in brackets, taken off the front.
std::optional<Duration> take_bracketed_time(std::string_view& text) {
  const size_t close = text.find(']');
  if (!text.starts_with('[') || close == std::string_view::npos || close > 40) return std::nullopt;
  std::string_view inner = text.substr(1, close - 1);
  const bool is_date = inner.find(':') != std::string_view::npos;
  while (take(inner, ' ')) {
  }
  std::optional<Duration> time;
  const std::optional<int64_t> seconds = is_date ? std::nullopt : take_number(inner);
  if (seconds && *seconds <= kSecondsMax && take(inner, '.')) {
    const std::optional<int64_t> micros = take_number(inner);
    if (micros && *micros < 1'000'000 && inner.empty()) time = *seconds * 1s + Duration(*micros);
  }
  if (!time && !is_date) return std::nullopt;  // "[Hardware Error]" is text.
  text.remove_prefix(close + 1);
  take(text, ' ');
  return time;
}

// "[ T4711]" or "[   C12]", the thread or CPU that some kernels add.
void drop_caller(std::string_view& text) {
  const size_t close = text.find(']');
  if (!text.starts_with('[') || close == std::string_view::npos || close > 12) return;
  const size_t letter = text.find_first_not_of(' ', 1);
  if (text[letter] != 'T' && text[letter] != 'C') return;
  const std::string_view number = text.substr(letter + 1, close - letter - 1);
  if (number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos) return;
  text.remove_prefix(close + 1);
  take(text, ' ');
}

// The kernel writes bytes that do not print as \x1b.
std::string kernel_text(std::string_view text) {
  std::string out;
  out.reserve(std::min(text.size(), kKernelTextBytesMax));
  for (const char c : text) {
    if (out.size() >= kKernelTextBytesMax) break;
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte >= 0x7F ? '?' : c;
  }
  return out;
}

}  // namespace

std::optional<KernelRecord> parse_kernel_record(std::string_view record) {
  record = record.substr(0, record.find('\n'));
  if (record.empty() || record.front() == ' ') return std::nullopt;
  std::optional<KernelRecord> parsed = parse_device_form(record);
  if (!parsed) {
    parsed.emplace();
    if (record.starts_with('<')) {
      std::string_view rest = record.substr(1);
      const std::optional<int64_t> priority = take_number(rest);
      if (priority && take(rest, '>')) {
        parsed->facility = facility_of(*priority);
        record = rest;
      }
    }
    parsed->since_boot = take_bracketed_time(record);
    drop_caller(record);
    parsed->text = std::string(record);
  }
  parsed->text = kernel_text(parsed->text);
  if (parsed->text.empty()) return std::nullopt;
  return parsed;
}

}  // namespace hai
