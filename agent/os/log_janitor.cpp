#include "agent/os/log_janitor.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "agent/os/rank_directory.h"

namespace hai {

namespace {

struct KeptLog {
  std::string path;
  int64_t bytes = 0;
  int64_t modified = 0;  // seconds since 1970
  bool in_use = false;
};

KeptLog measure(const std::string& path) {
  KeptLog log = {.path = path};
  std::error_code error;
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    struct stat info {};
    if (::lstat(entry->path().c_str(), &info) != 0) continue;
    log.bytes += info.st_size;
    log.modified = std::max<int64_t>(log.modified, info.st_mtime);
  }
  return log;
}

}  // namespace

int delete_old_logs(const std::string& logs_root, const std::set<RankKey>& in_use,
                    LogKeepLimits limits) {
  std::vector<KeptLog> logs;
  std::error_code error;
  std::filesystem::directory_iterator entry(logs_root, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::optional<RankKey> key = parse_rank_key(entry->path().filename().string());
    if (!key) continue;  // not ours
    logs.push_back(measure(entry->path().string()));
    logs.back().in_use = in_use.contains(*key);
  }
  std::sort(logs.begin(), logs.end(), [](const KeptLog& a, const KeptLog& b) {
    return std::tie(a.modified, a.path) < std::tie(b.modified, b.path);
  });

  int64_t bytes = 0;
  for (const KeptLog& log : logs) bytes += log.bytes;
  int count = static_cast<int>(logs.size());
  int deleted = 0;
  for (const KeptLog& log : logs) {
    if (bytes <= limits.bytes_max && count <= limits.count_max) break;
    if (log.in_use) continue;
    std::error_code ignored;
    std::filesystem::remove_all(log.path, ignored);
    bytes -= log.bytes;
    --count;
    ++deleted;
  }
  return deleted;
}

}  // namespace hai
