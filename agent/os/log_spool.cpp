#include "agent/os/log_spool.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>

namespace hai {

namespace {

constexpr std::string_view kSuffix = ".log";
constexpr size_t kNameDigits = 16;

std::optional<int64_t> parse_log_file_name(std::string_view name) {
  if (name.size() != kNameDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  int64_t start = 0;
  const auto [stop, error] = std::from_chars(name.data(), name.data() + kNameDigits, start);
  if (error != std::errc() || stop != name.data() + kNameDigits) return std::nullopt;
  return start;
}

}  // namespace

std::string log_file_name(int64_t start) { return fmt::format("{:016}{}", start, kSuffix); }

std::vector<int64_t> list_log_files(const std::string& directory) {
  std::vector<int64_t> starts;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::optional<int64_t> start = parse_log_file_name(entry->path().filename().string());
    if (start) starts.push_back(*start);
  }
  std::sort(starts.begin(), starts.end());
  return starts;
}

LogSpool::LogSpool(std::string directory, LogLimits limits)
    : directory_(std::move(directory)), limits_(limits), starts_(list_log_files(directory_)) {}

Result<LogSpool> LogSpool::open(const std::string& directory, LogLimits limits) {
  LogSpool spool(directory, limits);
  if (!spool.starts_.empty()) {
    const int64_t last = spool.starts_.back();
    struct stat info {};
    const std::string path = directory + "/" + log_file_name(last);
    if (::stat(path.c_str(), &info) != 0)
      return internal("cannot read {}: {}", path, errno_text(errno));
    spool.end_ = last + info.st_size;
  }
  RETURN_IF_ERROR(spool.open_next_file());
  return spool;
}

Status LogSpool::open_next_file() {
  const std::string path = directory_ + "/" + log_file_name(end_);
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640));
  if (!file.is_open()) return internal("cannot create log {}: {}", path, errno_text(errno));
  file_ = std::move(file);
  if (starts_.empty() || starts_.back() != end_) starts_.push_back(end_);
  return ok();
}

void LogSpool::append(Source& source, std::string_view bytes, UnixTime now) {
  prefix_ = format_rfc3339(now) + " ";
  while (!bytes.empty()) {
    const size_t room = kLogLineBytesMax - source.partial_.size();
    const size_t newline = bytes.substr(0, room).find('\n');
    const bool whole_line = newline != std::string_view::npos;
    if (!whole_line && bytes.size() < room) {
      source.partial_ += bytes;
      break;
    }
    const std::string_view piece = bytes.substr(0, whole_line ? newline : room);
    bytes.remove_prefix(piece.size() + (whole_line ? 1 : 0));
    if (source.partial_.empty()) {
      add_line(piece);
      continue;
    }
    source.partial_ += piece;
    add_line(source.partial_);
    source.partial_.clear();
  }
  write_pending();
}

void LogSpool::finish(Source& source, UnixTime now) {
  if (source.partial_.empty()) return;
  prefix_ = format_rfc3339(now) + " ";
  add_line(source.partial_);
  source.partial_.clear();
  write_pending();
}

void LogSpool::add_line(std::string_view line) {
  pending_ += prefix_;
  pending_ += line;
  pending_ += '\n';
  if (end_ + static_cast<int64_t>(pending_.size()) - starts_.back() >= limits_.file_bytes_max) {
    write_pending();
    // If there is no room for a new file the old one grows on: better than losing lines.
    if (end_ > starts_.back()) static_cast<void>(open_next_file().is_ok());
    drop_oldest();
  }
}

void LogSpool::write_pending() {
  if (lost_bytes_ > 0) {
    pending_.insert(0, fmt::format("{}[hai: {} bytes of log lost: the disk was full or failing]\n",
                                   prefix_, lost_bytes_));
  }
  std::string_view rest = pending_;
  while (!rest.empty()) {
    const ssize_t written = ::write(file_.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    end_ += written;
    rest.remove_prefix(static_cast<size_t>(written));
  }
  // What was said about the loss may itself be lost: then it is said again, with more bytes.
  lost_bytes_ = rest.empty() ? 0 : lost_bytes_ + static_cast<int64_t>(rest.size());
  pending_.clear();
}

void LogSpool::drop_oldest() {
  while (starts_.size() > 1 &&
         end_ - starts_.front() > limits_.total_bytes_max - limits_.file_bytes_max) {
    ::unlink((directory_ + "/" + log_file_name(starts_.front())).c_str());
    starts_.erase(starts_.begin());
  }
}

}  // namespace hai
