#include "agent/health/kernel_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace hai {

namespace {

// A record of /dev/kmsg is at most 8 KiB; a shorter buffer gets EINVAL.
constexpr size_t kBufferBytes = 16 << 10;
constexpr size_t kLineBytesMax = 16 << 10;
constexpr int kOverrunsMax = 1'000;

}  // namespace

KernelLog::KernelLog(std::string path, ReadCall read_call)
    : path_(std::move(path)), read_call_(std::move(read_call)) {
  if (!read_call_) {
    read_call_ = [](int fd, void* buffer, size_t size) { return ::read(fd, buffer, size); };
  }
}

Status KernelLog::open() {
  // Without O_NONBLOCK a read of /dev/kmsg waits for the next message, and an open of a FIFO for
  // its writer.
  fd_ = UniqueFd(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd_.is_open()) return unavailable("cannot open {}: {}", path_, errno_text(errno));
  struct stat info = {};
  if (::fstat(fd_.get(), &info) != 0) {
    return unavailable("cannot look at {}: {}", path_, errno_text(errno));
  }
  is_device_ = S_ISCHR(info.st_mode);
  inode_ = info.st_ino;
  offset_ = 0;
  unfinished_.clear();
  return ok();
}

Result<KernelLog::News> KernelLog::read_new() {
  if (fd_.is_open() && !is_device_ && is_other_file()) fd_.reset();
  if (!fd_.is_open()) RETURN_IF_ERROR(open());
  News news;
  const Status status = is_device_ ? read_device(news) : read_text_file(news);
  if (!status.is_ok()) {
    fd_.reset();
    return status;
  }
  return news;
}

Status KernelLog::read_device(News& news) {
  std::array<char, kBufferBytes> buffer;
  while (news.records.size() < kRecordsMax) {
    const ssize_t got = read_call_(fd_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EPIPE && news.overruns < kOverrunsMax) {
      ++news.overruns;  // The next read goes on with the oldest record there is.
      continue;
    }
    if (got == 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))) return ok();
    if (got < 0) return unavailable("cannot read {}: {}", path_, errno_text(errno));
    std::optional<KernelRecord> record =
        parse_kernel_record({buffer.data(), static_cast<size_t>(got)});
    if (record) news.records.push_back(std::move(*record));
  }
  news.is_more = true;
  return ok();
}

// Replaced, or cut to less than was read.
bool KernelLog::is_other_file() const {
  struct stat info = {};
  if (::stat(path_.c_str(), &info) != 0) return true;
  return info.st_ino != inode_ || info.st_size < offset_;
}

Status KernelLog::read_text_file(News& news) {
  std::array<char, kBufferBytes> buffer;
  take_lines(news);
  while (!news.is_more) {
    const ssize_t got = read_call_(fd_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || (got < 0 && errno == EAGAIN)) return ok();
    if (got < 0) return unavailable("cannot read {}: {}", path_, errno_text(errno));
    offset_ += got;
    unfinished_.append(buffer.data(), static_cast<size_t>(got));
    take_lines(news);
  }
  return ok();
}

void KernelLog::take_lines(News& news) {
  size_t start = 0;
  news.is_more = false;
  for (size_t end; (end = unfinished_.find('\n', start)) != std::string::npos; start = end + 1) {
    if (news.records.size() >= kRecordsMax) {
      news.is_more = true;
      break;
    }
    std::optional<KernelRecord> record =
        parse_kernel_record(std::string_view(unfinished_).substr(start, end - start));
    if (record) news.records.push_back(std::move(*record));
  }
  unfinished_.erase(0, start);
  if (!news.is_more && unfinished_.size() > kLineBytesMax) unfinished_.clear();
}

}  // namespace hai
