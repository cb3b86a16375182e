#include "agent/os/trash.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "common/boot_clock.h"
#include "common/log.h"

namespace hai {
namespace {

constexpr size_t kWaitingMax = 100'000;

void empty_folder(const std::string& folder) {
  std::error_code error;
  std::error_code ignored;  // A shim may be deleting the same files.
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::filesystem::remove_all(entry->path(), ignored);
  }
}

}  // namespace

Trash::Trash(Loop& loop, std::string folder)
    : folder_(std::move(folder)), thread_(loop, kWaitingMax) {
  ::mkdir(folder_.c_str(), 0700);
  sweep();
}

void Trash::sweep() {
  thread_.post([folder = folder_] { return empty_folder(folder), SideThread::Answer(); });
}

void Trash::take(const std::string& path) {
  ::mkdir(folder_.c_str(), 0700);
  const std::string taken =
      fmt::format("{}/{}-{}", folder_, boot_now().time_since_epoch().count(), ++taken_);
  if (std::rename(path.c_str(), taken.c_str()) == 0) return sweep();
  const int error = errno;
  if (::access(path.c_str(), F_OK) != 0) return;
  // As where the disk was full when the trash was to be made.
  log_warning("folder_not_moved_away", {{"folder", path}, {"why", std::strerror(error)}});
  take_elsewhere(path);
}

void Trash::take_elsewhere(const std::string& path) {
  thread_.post([path] {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
    return SideThread::Answer();
  });
}

}  // namespace hai
