#include "cli/slurm/log_text.h"

namespace hai::cli::slurm {

void LogText::add(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    if (in_time_) {
      // "2026-11-20T09:06:30.335Z " is all before the first blank; an empty line may lack the
      // blank.
      const size_t end = bytes.find_first_of(" \n");
      if (end == std::string_view::npos) break;
      if (bytes[end] == '\n') text += '\n';
      in_time_ = bytes[end] == '\n';
      bytes.remove_prefix(end + 1);
      continue;
    }
    const size_t end = bytes.find('\n');
    text += bytes.substr(0, end == std::string_view::npos ? end : end + 1);
    if (end == std::string_view::npos) break;
    in_time_ = true;
    bytes.remove_prefix(end + 1);
  }
  write_(text);
}

}  // namespace hai::cli::slurm
