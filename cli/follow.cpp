#include "cli/follow.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "cli/client.h"
#include "cli/exit_code.h"
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

Status read_log_once(Client& client, const LogOptions& options, LogPosition& position,
                     Patience& patience) {
  v1::ReadLogRequest request;
  request.set_job(options.job);
  request.set_rank(options.rank);
  request.set_attempt(options.attempt);
  request.set_follow(options.follow);
  if (!position.started && options.tail_bytes > 0) {
    request.set_tail_bytes(options.tail_bytes);
  } else {
    request.set_offset(position.started ? position.offset : -1);
  }
  return client.read_log(request, [&](const v1::ReadLogReply& chunk) {
    patience.heard();
    if (position.started && chunk.offset() > position.offset) {
      say(fmt::format("{} bytes of the log are gone: it was rotated",
                      chunk.offset() - position.offset));
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
    if (!patience.retry(status)) return status;
  }
}

// Until the job has an attempt above `attempt` that has begun, or has ended.
Result<v1::Job> wait_for_attempt(Client& client, const std::string& name, int attempt) {
  Patience patience;
  WaitingLine line(client);
  v1::WatchJobRequest request;
  request.set_job(name);
  for (;;) {
    v1::Job latest;
    const Status status = client.watch_job(request, [&](const v1::Job& job) {
      patience.heard();
      latest = job;
      const bool begun = job.attempt() > attempt && job.attempt_state() != "placed";
      if (begun && !is_terminal(job)) {
        line.tell_start(job);
      } else {
        line.update(job);
      }
      return !begun && !is_terminal(job);
    });
    const bool begun = latest.attempt() > attempt && latest.attempt_state() != "placed";
    if (latest.id() != 0 && (begun || is_terminal(latest))) return latest;
    line.wipe();
    if (!patience.retry(status)) {
      return status.is_ok() ? unavailable("job {}: the server stopped telling about it", name)
                            : status;
    }
  }
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

Status print_log(Client& client, const LogOptions& options) {
  Patience patience;
  LogPosition position;
  return read_log_once(client, options, position, patience);
}

Result<v1::Job> follow_job(Client& client, const LogOptions& options) {
  LogOptions current = options;
  Result<v1::Job> job = get_job(client, options.job);
  RETURN_IF_ERROR(job.status());
  // By id from here on: the name may pass to a newer job.
  current.job = std::to_string(job.value().id());
  const int first = options.attempt > 0 ? options.attempt : std::max(1, job.value().attempt());
  for (int attempt = first;; ++attempt) {
    job = wait_for_attempt(client, current.job, attempt - 1);
    RETURN_IF_ERROR(job.status());
    if (job.value().attempt() < attempt) return job;  // ended without another one
    current.attempt = attempt;
    if (attempt > first) current.tail_bytes = 0;
    const Status status = follow_attempt(client, current);
    if (!status.is_ok() && status.code() != Code::not_found) {  // not_found: it never began
      say(fmt::format("log of attempt {} of job {}: {}", attempt, current.job, status.message()));
      if (status.code() == Code::invalid_argument) return status;  // no such rank
    }
  }
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
