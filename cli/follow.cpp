#include "cli/follow.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/job_view.h"
#include "cli/patience.h"
#include "cli/session.h"
#include "cli/waiting_line.h"

namespace hai::cli {
namespace {

// Where a log reader stands; survives broken streams.
struct LogPosition {
  int64_t offset = 0;
  bool started = false;  // some bytes came: from now on `offset` counts, not the tail
  bool ended = false;
};

void write_out(const std::string& data) {
  std::fwrite(data.data(), 1, data.size(), stdout);
  std::fflush(stdout);
}

v1::ReadLogRequest request_of(const LogOptions& options) {
  v1::ReadLogRequest request;
  request.set_job(options.job);
  request.set_rank(options.rank);
  request.set_attempt(options.attempt);
  return request;
}

struct LogText {
  int64_t offset = 0;  // of the text in the log
  std::string text;
};

Result<LogText> read_to_end(Client& client, const v1::ReadLogRequest& request) {
  LogText read;
  const Status status = client.read_log(request, [&](const v1::ReadLogReply& chunk) {
    if (read.text.empty()) read.offset = chunk.offset();
    read.text += chunk.data();
    return !chunk.end();
  });
  if (!status.is_ok()) return status;
  return read;
}

// Where the log begins: not at 0 when its oldest part was rotated away.
Result<int64_t> oldest_offset(Client& client, const LogOptions& options) {
  v1::ReadLogRequest request = request_of(options);
  request.set_offset(-1);
  int64_t offset = 0;
  const Status status = client.read_log(request, [&](const v1::ReadLogReply& chunk) {
    offset = chunk.offset();
    return false;
  });
  if (!status.is_ok()) return status;
  return offset;
}

// How many bytes the last lines are: looks further back until it has seen enough of them.
Result<int64_t> bytes_of_last_lines(Client& client, const LogOptions& options) {
  constexpr int64_t kLineGuessed = 200;
  constexpr int64_t kBytesMax = 64 << 20;
  v1::ReadLogRequest request = request_of(options);
  for (int64_t bytes = std::max<int64_t>(4096, options.tail_lines * kLineGuessed);; bytes *= 8) {
    bytes = std::min(bytes, kBytesMax);
    request.set_tail_bytes(bytes);
    const Result<LogText> read = read_to_end(client, request);
    RETURN_IF_ERROR(read.status());
    const auto size = static_cast<int64_t>(read.value().text.size());
    if (const auto start = start_of_last_lines(read.value().text, options.tail_lines)) {
      return size - static_cast<int64_t>(*start);
    }
    if (bytes == kBytesMax) return std::max<int64_t>(size, 1);
    // A tail begins at a line, so little may come of a log with long ones: only its beginning says
    // that there is no more.
    const Result<int64_t> oldest = oldest_offset(client, options);
    RETURN_IF_ERROR(oldest.status());
    if (read.value().offset <= oldest.value()) return std::max<int64_t>(size, 1);
  }
}

Status read_log_once(Client& client, const LogOptions& options, LogPosition& position,
                     Patience& patience) {
  v1::ReadLogRequest request = request_of(options);
  request.set_follow(options.follow);
  if (position.started) {
    request.set_offset(position.offset);
  } else if (options.tail_lines > 0) {
    const Result<int64_t> bytes = bytes_of_last_lines(client, options);
    RETURN_IF_ERROR(bytes.status());
    request.set_tail_bytes(bytes.value());
  } else if (options.tail_bytes > 0) {
    request.set_tail_bytes(options.tail_bytes);
  } else if (options.since) {
    request.set_since_us(to_micros(*options.since));
  } else {
    request.set_offset(-1);
  }
  const bool is_from_start = !position.started && request.offset() < 0;
  return client.read_log(request, [&](const v1::ReadLogReply& chunk) {
    patience.heard();
    if (position.started && chunk.offset() > position.offset) {
      say(fmt::format("{} bytes of the log are gone: it was rotated",
                      chunk.offset() - position.offset));
    } else if (is_from_start && !position.started && chunk.offset() > 0) {
      say(fmt::format("the first {} bytes of the log are not kept any more: it begins after them",
                      chunk.offset()));
    }
    if (options.sink) {
      options.sink(chunk.data());
    } else {
      write_out(chunk.data());
    }
    if (!chunk.data().empty() || position.started) {
      position.started = true;
      position.offset = chunk.offset() + static_cast<int64_t>(chunk.data().size());
    }
    position.ended = chunk.end();
    return !chunk.end();
  });
}

Result<v1::Job> get_job(Client& client, const std::string& job) {
  v1::GetJobRequest request;
  request.set_job(job);
  return client.get_job(request);
}

// Follows the log of one attempt to its end. A log that cannot be read any more (its node is gone)
// is given up soon after the job has moved on.
Status follow_attempt(Client& client, const LogOptions& options) {
  constexpr int kTriesAfterwards = 3;
  Patience patience;
  LogPosition position;
  int tries_afterwards = 0;
  for (;;) {
    Status status = read_log_once(client, options, position, patience);
    if (position.ended) return ok();
    if (status.is_ok()) status = unavailable("it was cut off at byte {}", position.offset);
    const Result<v1::Job> job = get_job(client, options.job);
    const bool moved_on =
        job.is_ok() && (job.value().attempt() > options.attempt || is_terminal(job.value()));
    if (moved_on && ++tries_afterwards > kTriesAfterwards) return status;
    // A node with much to do answers late; it has the log all the same.
    if (status.code() == Code::deadline_exceeded) status = unavailable("{}", status.message());
    if (!patience.retry(status)) return status;
  }
}

// Until the job has begun, as `has_begun` says, or has ended; meanwhile people are told what it
// waits for, while it `waits`.
Result<v1::Job> wait_for_begin(Client& client, const std::string& name,
                               const std::function<bool(const v1::Job&)>& has_begun,
                               const std::function<bool(const v1::Job&)>& waits) {
  Patience patience;
  WaitingLine line(client);
  v1::WatchJobRequest request;
  request.set_job(name);
  for (;;) {
    v1::Job latest;
    const Status status = client.watch_job(request, [&](const v1::Job& job) {
      patience.heard();
      latest = job;
      if (has_begun(job) && !is_terminal(job)) {
        line.tell_start(job);
      } else if (waits(job)) {
        line.update(job);
      }
      return !has_begun(job) && !is_terminal(job);
    });
    if (latest.id() != 0 && (has_begun(latest) || is_terminal(latest))) return latest;
    line.wipe();
    if (!patience.retry(status)) {
      return status.is_ok() ? unavailable("job {}: the server stopped telling about it", name)
                            : status;
    }
  }
}

// Until the job has an attempt above `attempt` that has begun, or has ended.
Result<v1::Job> wait_for_attempt(Client& client, const std::string& name, int attempt) {
  const auto has_begun = [attempt](const v1::Job& job) {
    return job.attempt() > attempt && job.attempt_state() != "placed";
  };
  // The rank that was followed may have ended while others are still being launched: the job is
  // "queued" yet, but nobody waits for its start any more.
  const auto waits = [attempt](const v1::Job& job) {
    return job.attempt() != attempt || job.attempt_state() != "starting";
  };
  return wait_for_begin(client, name, has_begun, waits);
}

std::string interrupt_hint;  // written before the handler is set, read by it only

void on_interrupt(int) {
  const ssize_t ignored = write(STDERR_FILENO, interrupt_hint.data(), interrupt_hint.size());
  static_cast<void>(ignored);
  _exit(kInterrupted);
}

}  // namespace

bool is_terminal(const v1::Job& job) {
  return job.state() == "succeeded" || job.state() == "failed" || job.state() == "stopped";
}

int exit_code_of_ended(const v1::Job& job) {
  return exit_code_of_job(job.state(),
                          job.has_exit_code() ? std::optional<int>(job.exit_code()) : std::nullopt);
}

std::string end_text(const v1::Job& job) {
  const std::string reason = job.end_reason().empty() ? "" : ": " + job.end_reason();
  return fmt::format("job {} {}{}", job_number(job), job.state(), reason);
}

std::optional<size_t> start_of_last_lines(std::string_view text, int64_t lines) {
  size_t at = text.size();
  if (text.ends_with('\n')) --at;
  for (;;) {
    const size_t end = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    if (end == std::string_view::npos) return std::nullopt;
    if (--lines == 0) return end + 1;
    at = end;
  }
}

Status print_log(Client& client, const LogOptions& options) {
  Patience patience;
  LogPosition position;
  return read_log_once(client, options, position, patience);
}

Result<v1::Job> follow_attempts(Client& client, const std::string& name, int first_attempt,
                                const PrintAttempt& print) {
  Result<v1::Job> job = get_job(client, name);
  RETURN_IF_ERROR(job.status());
  // By id from here on: the name may pass to a newer job.
  const std::string id = std::to_string(job.value().id());
  const int first = first_attempt > 0 ? first_attempt : std::max(1, job.value().attempt());
  for (int attempt = first;; ++attempt) {
    job = wait_for_attempt(client, id, attempt - 1);
    RETURN_IF_ERROR(job.status());
    if (job.value().attempt() < attempt) return job;  // ended without another one
    const Status status = print(id, attempt);
    if (!status.is_ok() && status.code() != Code::not_found) {  // not_found: it never began
      say(fmt::format("log of attempt {} of job {}: {}", attempt, id, status.message()));
      // There is no such rank, or he may not, or not any more, read it: nor of another attempt.
      if (status.code() == Code::invalid_argument || status.code() == Code::permission_denied) {
        return status;
      }
    }
  }
}

Result<v1::Job> follow_job(Client& client, const LogOptions& options) {
  LogOptions current = options;
  return follow_attempts(client, options.job, options.attempt,
                         [&](const std::string& job, int attempt) {
                           current.job = job;
                           current.attempt = attempt;
                           const Status status = follow_attempt(client, current);
                           current.tail_bytes = current.tail_lines = 0;  // of the first alone
                           return status;
                         });
}

Result<v1::Job> wait_until_running(Client& client, const std::string& name) {
  const auto is_running = [](const v1::Job& job) { return job.state() == "running"; };
  return wait_for_begin(client, name, is_running, [](const v1::Job&) { return true; });
}

Result<v1::Job> wait_for_job(Client& client, const std::string& job,
                             std::optional<Duration> limit) {
  const MonoTime start = mono_now();
  Patience patience;
  v1::WatchJobRequest request;
  request.set_job(job);
  for (;;) {
    std::optional<Duration> left;
    if (limit) left = std::max<Duration>(*limit - (mono_now() - start), 1ms);
    v1::Job latest;
    const Status status = client.watch_job(
        request,
        [&](const v1::Job& change) {
          patience.heard();
          latest = change;
          request.set_job(std::to_string(change.id()));
          return !is_terminal(change);
        },
        left);
    if (latest.id() != 0 && is_terminal(latest)) return latest;
    if (limit && mono_now() - start >= *limit) {
      return deadline_exceeded("job {} has not ended within {}", job, format_duration(*limit));
    }
    if (!patience.retry(status)) {
      return status.is_ok() ? unavailable("job {}: the server stopped telling about it", job)
                            : status;
    }
  }
}

void detach_on_interrupt(const std::string& hint) {
  interrupt_hint = "\nhai: " + hint + "\n";
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
}

}  // namespace hai::cli
