#include "common/reload_log.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace hai {

void reload_log(LogLevel level, const std::string& file, const ConfigChange& change) {
  set_log_level(level);
  if (std::ranges::count(change.taken, "log.file") > 0) {
    const Status status = set_log_file(file);
    if (!status.is_ok()) log_warning("log_file_not_taken", {{"reason", status}});
  }
  if (change.taken.empty() && change.waiting.empty()) return log_info("config_unchanged");
  const LogField taken("taken", fmt::format("{}", fmt::join(change.taken, ",")));
  const std::string waiting = fmt::format("{}", fmt::join(change.waiting, ","));
  if (waiting.empty()) return log_info("config_reloaded", {taken});
  log_warning("config_reloaded", {taken, {"wait_for_restart", waiting}});
}

}  // namespace hai
