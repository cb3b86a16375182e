#include "agent/shim/step_spool.h"

#include <sys/stat.h>

#include <cerrno>

#include "agent/os/rank_directory.h"

namespace hai {

namespace {

constexpr LogLimits kLimits = {.total_bytes_max = 4 << 20, .file_bytes_max = 1 << 20};

}  // namespace

StepSpool::StepSpool(std::string log_directory, const RankKey& key)
    : log_directory_(std::move(log_directory)), key_(key) {}

Status StepSpool::add(std::string_view line, UnixTime now) {
  if (key_.rank != 0) return failed_precondition("steps are recorded by rank 0");
  if (!spool_) {
    const std::string directory = step_record_directory(log_directory_, key_);
    if (::mkdir(directory.c_str(), 0750) != 0 && errno != EEXIST)
      return internal("cannot make {}: {}", directory, errno_text(errno));
    Result<LogSpool> spool = LogSpool::open(directory, kLimits);
    if (!spool.is_ok()) return spool.status();
    spool_ = std::move(spool).value();
  }
  LogSpool::Source source;
  spool_->append(source, line, now);
  spool_->finish(source, now);
  return ok();
}

}  // namespace hai
