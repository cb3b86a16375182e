#pragma once
// Whether a folder may be copied as it is: not more than anybody means to, and not more than there
// is room for. Judged before the first byte goes, so that a full disk is never found halfway. Pure.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/status.h"

namespace hai::cli {

// A folder of code and small data. More was hardly meant: checkpoints, a data set.
inline constexpr int64_t kWorkspaceBytesMax = int64_t{50} << 30;

// What `rsync --stats --no-h` has counted.
struct CopySize {
  int64_t all = 0;      // of all files that are not left out
  int64_t to_copy = 0;  // of those that differ
};
std::optional<CopySize> parse_rsync_stats(std::string_view text);
// What is free for its user, of `stat -f -c '%b %a %S'`: blocks, free ones, bytes of one. Nothing
// for a file system that has no blocks and so does not say.
std::optional<int64_t> parse_free_bytes(std::string_view text);

Status check_workspace_size(const std::string& folder, int64_t bytes);
Status check_free_space(const std::string& folder, int64_t bytes, int64_t free);

}  // namespace hai::cli
