#include "cli/interactive.h"

#include <unistd.h>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/follow.h"
#include "cli/session.h"
#include "cli/shell_io.h"
#include "cli/submission.h"
#include "common/shell_words.h"

namespace hai::cli {
namespace {

constexpr Duration kEndPatience = 10s;

// The job's own program only waits for the one in the terminal, at a pipe in the rank's /tmp that
// this one has open while it runs: so the job ends with it, whatever becomes of the terminal, the
// network and `hai`, and with its exit code. If nobody comes within a minute it ends, too.
constexpr const char* kWait = R"(
if [ -n "$JOB_TERMINAL_VARIABLES" ]; then
  (umask 077; export -p >"$JOB_TERMINAL_PIPE.variables") || exit 1
fi
pipe=$JOB_TERMINAL_PIPE
rm -f "$pipe"
mkfifo -m 600 "$pipe" || exit 1
(
  until=$(($(date +%s) + 60))
  while [ -p "$pipe" ] && kill -0 $$; do
    if [ $(date +%s) -ge $until ]; then
      echo "nobody opened its terminal within a minute"
      rm -f "$pipe.variables"
      kill $$
    fi
    sleep 1
  done
  if [ -p "$pipe" ]; then rm -f "$pipe.variables"; fi
) 2>/dev/null &
code=
read -r code <"$pipe"
exit "${code:-129}"
)";

// What is run in the terminal, once the job waits for it. The pipe is for this shell alone, so that
// nothing that its program leaves behind keeps the job. A program that ends by a signal is told as
// a shell tells it.
constexpr const char* kRun = R"(JOB_TERMINAL_TRIES=0
while [ ! -p "$JOB_TERMINAL_PIPE" ]; do
  JOB_TERMINAL_TRIES=$((JOB_TERMINAL_TRIES + 1))
  if [ $JOB_TERMINAL_TRIES -gt 300 ]; then
    echo "the job does not wait for its terminal" >&2
    exit 1
  fi
  sleep 0.1
done
exec 9>"$JOB_TERMINAL_PIPE" || exit 1
rm -f "$JOB_TERMINAL_PIPE"
if [ -n "$JOB_TERMINAL_VARIABLES" ]; then
  JOB_TERMINAL_TERM=$TERM
  . "$JOB_TERMINAL_PIPE.variables"
  rm -f "$JOB_TERMINAL_PIPE.variables"
  TERM=$JOB_TERMINAL_TERM
fi
unset JOB_TERMINAL_PIPE JOB_TERMINAL_SCRIPT JOB_TERMINAL_VARIABLES
unset JOB_TERMINAL_TRIES JOB_TERMINAL_TERM
"$@" 9>&-
code=$?
echo "$code" >&9
exit "$code"
)";

// Whether the job lives on without the program that has ended: it was asked to make room, or its
// node failed. One whose program has ended by itself ends within a moment.
bool goes_on(Client& client, const std::string& job) {
  v1::WatchJobRequest request;
  request.set_job(job);
  bool has_left = false;
  // However it ends: without an answer the job is not known to live on.
  const Status ignored = client.watch_job(
      request,
      [&](const v1::Job& now) {
        has_left = !is_terminal(now) && now.state() != "running";
        return now.state() == "running";
      },
      kEndPatience);
  static_cast<void>(ignored);
  return has_left;
}

v1::ShellOpen terminal_of(int64_t job, const std::vector<std::string>& command) {
  v1::ShellOpen open;
  open.set_job(std::to_string(job));
  for (const char* word : {"/bin/sh", "-c", kRun, "terminal"}) {
    open.mutable_program()->add_argv(word);
  }
  for (const std::string& word : command) open.mutable_program()->add_argv(word);
  return open;
}

}  // namespace

static void name_pipe(JobSpec& spec) {
  spec.environments["JOB_TERMINAL_PIPE"] = "/tmp/.hai-terminal-" + new_request_id();
}

Result<std::string> make_terminal_script(JobSpec& spec) {
  if (::isatty(STDIN_FILENO) == 0) return invalid_argument("this is no terminal");
  name_pipe(spec);
  spec.environments["JOB_TERMINAL_VARIABLES"] = "yes";
  return std::string("#!/bin/sh\n") + kWait;
}

Status make_interactive(JobSpec& spec, const std::vector<std::string>& command) {
  if (spec.node_count != 1 || !spec.array.empty()) {
    return invalid_argument(
        "--pty: a terminal is for a job of one node; `hai shell JOB -r RANK` opens one in any rank "
        "of others");
  }
  if (::isatty(STDIN_FILENO) == 0) {
    return invalid_argument("--pty: this is no terminal; leave it out to have the output in a log");
  }
  spec.entrypoint = "/bin/sh";
  spec.launch = LaunchMode::per_node;
  std::vector<std::string> words = {"-c", "eval \"$JOB_TERMINAL_SCRIPT\"", "terminal"};
  words.insert(words.end(), command.begin(), command.end());
  spec.parameters = join_words(words);  // the command is for people to see
  spec.environments["JOB_TERMINAL_SCRIPT"] = kWait;
  name_pipe(spec);
  return ok();
}

int follow_terminal(Session& session, Client& client, int64_t id,
                    const std::vector<std::string>& command) {
  const std::string job = std::to_string(id);
  detach_on_interrupt(
      fmt::format("job {0} still waits, and ends soon after it has begun: `hai stop {0}`", job));
  for (;;) {
    const Result<v1::Job> now = wait_until_running(client, job);
    if (!now.is_ok()) return session.fail(now.status());
    if (is_terminal(now.value())) {
      say(fmt::format("job {} {}: {}", job, now.value().state(), now.value().end_reason()));
      return exit_code_of_job(now.value().state(), std::nullopt);
    }
    const Result<int> code =
        enter_job(client, terminal_of(id, command), true, "which ends with its terminal");
    if (!goes_on(client, job)) return code.is_ok() ? code.value() : session.fail(code.status());
    say(fmt::format(
        "job {} had to leave its node, and its program with it: it begins anew when the "
        "job runs again",
        job));
  }
}

}  // namespace hai::cli
