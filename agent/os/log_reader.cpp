#include "agent/os/log_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "agent/os/files.h"
#include "agent/os/log_spool.h"

namespace hai {

namespace {

constexpr int kListAttemptsMax = 3;  // a file can be deleted between listing and opening

Result<int64_t> file_bytes(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return not_found("no log {}", path);
  return static_cast<int64_t>(info.st_size);
}

// Appends bytes [from, from + max) of one file; fewer at its end.
Status append_from(const std::string& path, int64_t from, int64_t max, std::string& out) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return not_found("no log {}", path);
  const size_t before = out.size();
  out.resize(before + static_cast<size_t>(max));
  size_t got = 0;
  while (got < static_cast<size_t>(max)) {
    const ssize_t part = ::pread(fd.get(), out.data() + before + got,
                                 static_cast<size_t>(max) - got, from + static_cast<int64_t>(got));
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) {
      const int error = errno;
      out.resize(before);
      return internal("cannot read log {}: {}", path, errno_text(error));
    }
    if (part == 0) break;
    got += static_cast<size_t>(part);
  }
  out.resize(before + got);
  return ok();
}

Result<LogPart> read_once(const std::string& directory, int64_t offset, int64_t max_bytes) {
  const std::vector<int64_t> starts = list_log_files(directory);
  if (starts.empty()) return not_found("no log in {}", directory);
  const Result<int64_t> last_bytes = file_bytes(directory + "/" + log_file_name(starts.back()));
  if (!last_bytes.is_ok()) return last_bytes.status();

  LogPart part;
  part.first_available_offset = starts.front();
  part.end_offset = starts.back() + last_bytes.value();
  part.offset = std::clamp(offset, part.first_available_offset, part.end_offset);
  const int64_t wanted_end =
      std::min(part.end_offset, part.offset + std::max<int64_t>(0, max_bytes));
  int64_t at = part.offset;
  auto file = std::prev(std::upper_bound(starts.begin(), starts.end(), at));
  for (; at < wanted_end && file != starts.end(); ++file) {
    const int64_t file_end = std::next(file) == starts.end() ? part.end_offset : *std::next(file);
    const int64_t wanted = std::min(wanted_end, file_end) - at;
    RETURN_IF_ERROR(
        append_from(directory + "/" + log_file_name(*file), at - *file, wanted, part.bytes));
    at = part.offset + static_cast<int64_t>(part.bytes.size());
    if (at < std::min(wanted_end, file_end))
      break;  // Shorter than its name says: not ours to judge.
  }
  part.next_offset = at;
  return part;
}

}  // namespace

Result<LogPart> read_log(const std::string& directory, int64_t offset, int64_t max_bytes) {
  Result<LogPart> part = read_once(directory, offset, max_bytes);
  for (int attempt = 1; attempt < kListAttemptsMax; ++attempt) {
    if (part.is_ok() || part.status().code() != Code::not_found) break;
    part = read_once(directory, offset, max_bytes);
  }
  return part;
}

Result<int64_t> log_tail_offset(const std::string& directory, int64_t tail_bytes) {
  return log_tail_offset(
      [&](int64_t offset, int64_t max) { return read_log(directory, offset, max); }, tail_bytes);
}

}  // namespace hai
