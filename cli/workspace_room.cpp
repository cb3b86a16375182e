#include "cli/workspace_room.h"

#include <algorithm>
#include <array>

#include "common/whole_number.h"

namespace hai::cli {
namespace {

std::optional<int64_t> number_after(std::string_view text, std::string_view title) {
  const size_t at = text.find(title);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + title.size());
  return whole_number(text.substr(0, text.find_first_not_of("0123456789")));
}

std::string gib(int64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (int64_t{1} << 30));
}

}  // namespace

std::optional<CopySize> parse_rsync_stats(std::string_view text) {
  const auto all = number_after(text, "Total file size: ");
  const auto to_copy = number_after(text, "Total transferred file size: ");
  if (!all || !to_copy) return std::nullopt;
  return CopySize{*all, *to_copy};
}

std::optional<int64_t> parse_free_bytes(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  std::array<int64_t, 3> numbers{};  // blocks, free ones, bytes of one
  for (size_t i = 0; i < numbers.size(); ++i) {
    const std::string_view word = text.substr(0, text.find(' '));
    const auto number = whole_number(i + 1 < numbers.size() ? word : text);
    if (!number || *number < 0) return std::nullopt;
    numbers[i] = *number;
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  const auto [all, free, size] = numbers;
  constexpr int64_t kMost = int64_t{1} << 62;
  if (all == 0 || size == 0 || free > kMost / size) return std::nullopt;
  return free * size;
}

Status check_workspace_size(const std::string& folder, int64_t bytes) {
  if (bytes <= kWorkspaceBytesMax) return ok();
  return resource_exhausted(
      "{} has {} to copy, at most {} are without --force: list data and checkpoints in .haiignore, "
      "and keep them on the cluster's storage",
      folder, gib(bytes), gib(kWorkspaceBytesMax));
}

Status check_free_space(const std::string& folder, int64_t bytes, int64_t free) {
  if (bytes <= free) return ok();
  return resource_exhausted(
      "{} to copy, but {} has {} free: nothing was copied; --force begins all the same", gib(bytes),
      folder, gib(free));
}

}  // namespace hai::cli
