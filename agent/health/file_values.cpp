#include "agent/health/file_values.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "agent/os/files.h"
#include "common/whole_number.h"

namespace hai {

namespace {
constexpr size_t kFileBytesMax = 256 << 10;
}  // namespace

std::string_view trimmed(std::string_view text) {
  static constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::optional<std::string> read_text(const std::string& path) {
  const Result<std::string> text = read_file(path, kFileBytesMax);
  if (!text.is_ok()) return std::nullopt;
  return std::string(trimmed(text.value()));
}

std::optional<int64_t> read_integer(const std::string& path) {
  const std::optional<std::string> text = read_text(path);
  if (!text) return std::nullopt;
  if (!text->starts_with("0x")) return whole_number(*text);
  int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto parsed = std::from_chars(text->data() + 2, end, value, 16);
  if (parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return value;
}

std::vector<std::string> list_folder(const std::string& path, size_t count_max) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator() && names.size() < count_max;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace hai
