#include "server/store/audit_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "server/store/audit_line.h"

namespace hai {
namespace {

constexpr off_t kEntryBytesMax = 64 << 10;  // an entry takes less than 8 KiB
constexpr off_t kLatestBytes = 4 << 20;

Status failure(const std::string& path, const char* what) {
  return unavailable("{}: {}: {}", path, what, std::strerror(errno));
}

}  // namespace

Result<std::optional<AuditMark>> AuditFile::open() {
  if (file_ >= 0 && is_at_its_path()) return std::optional<AuditMark>();
  close();
  Result<std::optional<AuditMark>> opened = open_anew();
  if (!opened.is_ok()) close();
  return opened;
}

bool AuditFile::is_at_its_path() const {
  struct stat here {};
  struct stat opened {};
  return ::fstat(file_, &opened) == 0 && ::stat(path_.c_str(), &here) == 0 &&
         here.st_ino == opened.st_ino && here.st_dev == opened.st_dev;
}

Result<std::optional<AuditMark>> AuditFile::open_anew() {
  file_ = ::open(path_.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
                 S_IRUSR | S_IWUSR);
  if (file_ < 0) return failure(path_, "open");
  struct stat opened {};
  if (::fstat(file_, &opened) != 0) return failure(path_, "stat");
  if (!S_ISREG(opened.st_mode)) return failed_precondition("{}: is no file", path_);
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    return failed_precondition("{}: another process writes it", path_);
  }
  return last_entry();
}

Result<std::string> AuditFile::tail(off_t bytes_max) const {
  const off_t size = ::lseek(file_, 0, SEEK_END);
  if (size < 0) return failure(path_, "seek");
  std::string text(static_cast<size_t>(std::min(size, bytes_max)), '\0');
  const off_t begin = size - static_cast<off_t>(text.size());
  if (::pread(file_, text.data(), text.size(), begin) != static_cast<ssize_t>(text.size())) {
    return failure(path_, "read");
  }
  return text;
}

std::vector<AuditMark> AuditFile::latest() const {
  const Result<std::string> text = tail(kLatestBytes);
  if (!text.is_ok()) return {};
  std::vector<AuditMark> marks;
  std::string_view rest = text.value();
  for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    const auto row = audit_row_from_line(rest.substr(0, end));
    if (row.is_ok()) marks.push_back({row.value().seq, row.value().hash});
    rest.remove_prefix(end + 1);
  }
  return marks;
}

// Also takes away what stands after the last whole line.
Result<std::optional<AuditMark>> AuditFile::last_entry() const {
  const off_t size = ::lseek(file_, 0, SEEK_END);
  if (size < 0) return failure(path_, "seek");
  const Result<std::string> read = tail(kEntryBytesMax);
  if (!read.is_ok()) return read.status();
  const std::string& tail = read.value();
  const off_t begin = size - static_cast<off_t>(tail.size());
  const size_t end = tail.rfind('\n') + 1;  // 0 = there is none
  if (end == 0 && begin > 0) {
    return failed_precondition("{}: is no audit log: it ends with a line of more than {} bytes",
                               path_, kEntryBytesMax);
  }
  if (end < tail.size() && ::ftruncate(file_, begin + static_cast<off_t>(end)) != 0) {
    return failure(path_, "truncate");
  }
  if (end == 0) return std::optional<AuditMark>();
  const size_t before = end < 2 ? std::string::npos : tail.rfind('\n', end - 2);
  const size_t start = before == std::string::npos ? 0 : before + 1;
  const auto row = audit_row_from_line(std::string_view(tail).substr(start, end - 1 - start));
  if (!row.is_ok()) return std::optional<AuditMark>();  // somebody else's line
  return std::optional<AuditMark>({row.value().seq, row.value().hash});
}

Status AuditFile::write(std::span<const AuditRow> rows, size_t& taken) {
  taken = 0;
  const off_t size = ::lseek(file_, 0, SEEK_END);
  std::string text;
  for (const AuditRow& row : rows) text += audit_line(row) + '\n';
  Status written = append(text);
  if (written.is_ok() && ::fdatasync(file_) != 0) written = failure(path_, "sync");
  if (written.is_ok()) {
    taken = rows.size();
    return ok();
  }
  // All or none of them; where that fails, too, the next open() looks what is there.
  [[maybe_unused]] const bool is_as_before = size >= 0 && ::ftruncate(file_, size) == 0;
  close();
  return written;
}

Status AuditFile::append(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t count = ::write(file_, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure(path_, "write");
    text.remove_prefix(static_cast<size_t>(count));
  }
  return ok();
}

void AuditFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

}  // namespace hai
