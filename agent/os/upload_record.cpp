#include "agent/os/upload_record.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "agent/os/files.h"
#include "agent/os/rank_directory.h"

namespace hai {

namespace {

constexpr size_t kUserBytesMax = 4096;

std::string folder(const std::string& data_dir) { return data_dir + "/log_uploads"; }
std::string path_of(const std::string& data_dir, const RankKey& key) {
  return folder(data_dir) + "/" + to_string(key);
}

}  // namespace

Status make_upload_records(const std::string& data_dir) {
  const std::string path = folder(data_dir);
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return ok();
  return internal("cannot make directory {}: {}", path, errno_text(errno));
}

Status keep_upload_record(const std::string& data_dir, const RankKey& key,
                          const std::string& user) {
  return write_file_atomic(path_of(data_dir, key), user, 0600,
                           Durability::survives_crash_of_program);
}

void drop_upload_record(const std::string& data_dir, const RankKey& key) {
  ::unlink(path_of(data_dir, key).c_str());
}

std::map<RankKey, std::string> list_upload_records(const std::string& data_dir) {
  std::map<RankKey, std::string> users;
  std::error_code error;
  std::filesystem::directory_iterator entry(folder(data_dir), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const auto key = parse_rank_key(entry->path().filename().string());
    if (!key) continue;
    Result<std::string> user = read_file(entry->path().string(), kUserBytesMax);
    if (user.is_ok() && !user.value().empty()) users[*key] = std::move(user).value();
  }
  return users;
}

}  // namespace hai
