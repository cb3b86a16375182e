#pragma once
// Following a job: what it waits for, its log, attempt after attempt, until it has ended. A server
// that goes away for a while is waited for; the log goes on at the byte where it stopped.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/status.h"
#include "common/time.h"
#include "hai/v1/types.pb.h"

namespace hai::cli {

class Client;

struct LogOptions {
  std::string job;
  int rank = 0;
  int attempt = 0;         // 0 = the latest
  int64_t tail_lines = 0;  // only so many last lines; 0 = all
  int64_t tail_bytes = 0;  // only about so many last bytes, from the start of a line on; 0 = all
  std::optional<UnixTime> since = {};  // only lines written then or later
  bool follow = false;
  std::function<void(std::string_view)> sink = {};  // where the bytes go; default: standard output
};

bool is_terminal(const v1::Job& job);
// As exit_code_of_job (exit_code.h) of a job that has ended.
int exit_code_of_ended(const v1::Job& job);
// "job 17_3 failed: rank 0 on node-1 exited with code 2"
std::string end_text(const v1::Job& job);

// Where the last `lines` lines of `text` begin, a line without an end counting as one; nullopt if
// it has no more than these.
std::optional<size_t> start_of_last_lines(std::string_view text, int64_t lines);

// The log of one attempt to standard output.
Status print_log(Client& client, const LogOptions& options);

// Prints an attempt, of the job with this id, until it is over.
using PrintAttempt = std::function<Status(const std::string& job, int attempt)>;

// `first_attempt` (0 = the latest) and all later ones, one after another; what the job waits for
// goes to standard error. Returns the job as it ended.
Result<v1::Job> follow_attempts(Client& client, const std::string& job, int first_attempt,
                                const PrintAttempt& print);
// … the log of one rank to standard output.
Result<v1::Job> follow_job(Client& client, const LogOptions& options);

// The job as it is when all its ranks run, or has ended; until then what it waits for goes to
// standard error.
Result<v1::Job> wait_until_running(Client& client, const std::string& job);

// The job as it ended; deadline_exceeded when that took longer than `limit`.
Result<v1::Job> wait_for_job(Client& client, const std::string& job, std::optional<Duration> limit);

// From now on Ctrl-C says `hint` on standard error and ends the program with 130, the job
// untouched.
void detach_on_interrupt(const std::string& hint);

}  // namespace hai::cli
