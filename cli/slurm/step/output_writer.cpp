#include "cli/slurm/step/output_writer.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hai::cli::slurm {
namespace {

constexpr size_t kLineBytesMax = 65'536;  // what has no line end by then is cut into lines

}  // namespace

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
}

std::string expand_pattern(std::string_view pattern, const PatternValues& values) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      out += pattern[i];
      continue;
    }
    size_t end = i + 1;
    size_t width = 0;
    while (end < pattern.size() && pattern[end] >= '0' && pattern[end] <= '9') {
      width = std::min<size_t>(width * 10 + static_cast<size_t>(pattern[end++] - '0'), 10);
    }
    const char letter = end < pattern.size() ? pattern[end] : 0;
    const auto number = [&](const std::string& text) {
      return std::string(width > text.size() ? width - text.size() : 0, '0') + text;
    };
    switch (letter) {
      case 'j':
      case 'J':
        out += number(values.job);
        break;
      case 'A':
        out += number(values.array_job.empty() ? values.job : values.array_job);
        break;
      case 'a':
        out += number(values.array_task.empty() ? "0" : values.array_task);
        break;
      case 'x':
        out += values.name;
        break;
      case 'u':
        out += values.user;
        break;
      case 'N':
        out += values.node;
        break;
      case 'n':
        out += number(std::to_string(values.node_index));
        break;
      case 't':
        out += number(std::to_string(values.task));
        break;
      case 's':
        out += number(std::to_string(values.step));
        break;
      case '%':
        out += '%';
        break;
      default:
        out += pattern.substr(i, end - i + (letter == 0 ? 0 : 1));
    }
    i = letter == 0 ? end - 1 : end;
  }
  return out;
}

OutputWriter::~OutputWriter() {
  while (!open_lines_.empty()) finish(open_lines_.begin()->first.first);
}

int OutputWriter::fd_of(uint32_t task, bool is_error) {
  const std::string& pattern =
      is_error && !options_.error.empty() ? options_.error : options_.output;
  if (pattern.empty()) return is_error ? STDERR_FILENO : STDOUT_FILENO;
  options_.values.task = static_cast<int>(task);
  const std::string path = expand_pattern(pattern, options_.values);
  const auto found = files_.find(path);
  if (found != files_.end()) return found->second.get();
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (options_.append ? O_APPEND : O_TRUNC);
  Fd file(::open(path.c_str(), flags, 0666));
  if (file.get() < 0) {
    write_all(STDERR_FILENO, fmt::format("srun: error: {}: {}\n", path, std::strerror(errno)));
  }
  return files_.emplace(path, std::move(file)).first->second.get();
}

void OutputWriter::write(uint32_t task, bool is_error, std::string_view bytes) {
  const int fd = fd_of(task, is_error);
  if (!options_.label) {
    write_all(fd, bytes);
    return;
  }
  std::string& line = open_lines_[{task, is_error}];
  std::string text;
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    line += bytes.substr(0, end);
    if (end == std::string_view::npos && line.size() < kLineBytesMax) break;
    text += fmt::format("{}: {}\n", task, line);
    line.clear();
    bytes.remove_prefix(std::min(bytes.size(), end == std::string_view::npos ? end : end + 1));
  }
  write_all(fd, text);
}

void OutputWriter::finish(uint32_t task) {
  // A task that said nothing has its file, too: whatever comes after may count them.
  if (!options_.output.empty()) fd_of(task, false);
  if (!options_.error.empty()) fd_of(task, true);
  for (const bool is_error : {false, true}) {
    const auto found = open_lines_.find({task, is_error});
    if (found == open_lines_.end()) continue;
    if (!found->second.empty()) {
      write_all(fd_of(task, is_error), fmt::format("{}: {}\n", task, found->second));
    }
    open_lines_.erase(found);
  }
}

}  // namespace hai::cli::slurm
