#include "common/bytes.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace hai {
namespace {

struct ByteUnit {
  std::string_view name;
  int64_t size;
};
constexpr int64_t kKi = 1024;
constexpr std::array<ByteUnit, 5> kBinaryUnits = {{{"Pi", kKi* kKi* kKi* kKi* kKi},
                                                   {"Ti", kKi* kKi* kKi* kKi},
                                                   {"Gi", kKi* kKi* kKi},
                                                   {"Mi", kKi* kKi},
                                                   {"Ki", kKi}}};
constexpr std::array<ByteUnit, 6> kDecimalUnits = {{{"P", 1'000'000'000'000'000},
                                                    {"T", 1'000'000'000'000},
                                                    {"G", 1'000'000'000},
                                                    {"M", 1'000'000},
                                                    {"K", 1'000},
                                                    {"", 1}}};
constexpr int64_t kBytesMax = 1024 * kBinaryUnits[0].size;

int64_t bytes_of_unit(std::string_view name) {
  if (!name.empty() && name.back() == 'B') name.remove_suffix(1);
  for (const ByteUnit& unit : kBinaryUnits) {
    if (unit.name == name) return unit.size;
  }
  for (const ByteUnit& unit : kDecimalUnits) {
    if (unit.name == name) return unit.size;
  }
  return 0;
}

}  // namespace

Result<int64_t> parse_bytes(std::string_view text) {
  const size_t number_end = text.find_first_not_of("0123456789.");
  const std::string_view number = text.substr(0, number_end);
  const int64_t unit =
      bytes_of_unit(number_end == std::string_view::npos ? "" : text.substr(number_end));
  const size_t point = number.find('.');
  const bool is_part_of_byte = point != std::string_view::npos && unit == 1;
  int64_t whole = 0;
  const char* const whole_end = number.data() + std::min(point, number.size());
  const auto parsed = std::from_chars(number.data(), whole_end, whole);
  if (unit == 0 || is_part_of_byte || parsed.ec == std::errc::invalid_argument ||
      parsed.ptr != whole_end || number.find('.', point + 1) != std::string_view::npos ||
      number.back() == '.') {
    return invalid_argument("size '{}': write it like 64Gi, 500M or 4096", text.substr(0, 64));
  }
  if (parsed.ec != std::errc() || whole > kBytesMax / unit) {
    return invalid_argument("size '{}' is above 1024Pi", text.substr(0, 64));
  }
  int64_t fraction = 0;
  int64_t scale = 1;
  for (size_t i = point; i != std::string_view::npos && ++i < number.size();) {
    if (scale == 1000) {
      return invalid_argument("size '{}': at most 3 digits after the point", text.substr(0, 64));
    }
    fraction = fraction * 10 + (number[i] - '0');
    scale *= 10;
  }
  return whole * unit + fraction * unit / scale;
}

std::string format_bytes(int64_t bytes) {
  for (const ByteUnit& unit : kBinaryUnits) {
    if (bytes != 0 && bytes % unit.size == 0) {
      return fmt::format("{}{}", bytes / unit.size, unit.name);
    }
  }
  return std::to_string(bytes);
}

}  // namespace hai
