#include "proto/convert/limits.h"

namespace hai {

namespace {

constexpr size_t kNameBytesMax = 255;

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-' || c == ':';
}

}  // namespace

Status check_range(std::string_view field, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return ok();
  return invalid_argument("{} is {}, allowed is {} to {}", field, value, low, high);
}

Status check_size(std::string_view field, size_t size, size_t size_max) {
  if (size <= size_max) return ok();
  return invalid_argument("{} has size {}, allowed is {}", field, size, size_max);
}

Status check_duration(std::string_view field, int64_t micros) {
  return check_range(field, micros, 0, kMaxDuration.count());
}

Status check_unix_time(std::string_view field, int64_t micros) {
  return check_range(field, micros, 0, kMaxUnixMicros);
}

Status check_name(std::string_view field, std::string_view name, bool may_be_empty) {
  if (name.empty() && !may_be_empty) return invalid_argument("{} is empty", field);
  RETURN_IF_ERROR(check_size(field, name.size(), kNameBytesMax));
  for (char c : name) {
    if (!is_name_char(c)) {
      return invalid_argument("{} has the byte 0x{:02x}; use letters, digits and . _ - :", field,
                              static_cast<unsigned char>(c));
    }
  }
  return ok();
}

}  // namespace hai
