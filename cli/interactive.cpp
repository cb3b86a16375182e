#include "cli/interactive.h"

#include <unistd.h>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/follow.h"
#include "cli/session.h"
#include "cli/shell_io.h"
#include "cli/submission.h"
#include "common/shell_words.h"
#include "common/spec/check_job_spec.h"

namespace hai::cli {
namespace {

constexpr Duration kEndPatience = 10s;

// Variables of the job: the script of its own program, and where that waits.
constexpr const char* kScriptVariable = "JOB_TERMINAL_SCRIPT";
constexpr const char* kPipeVariable = "JOB_TERMINAL_PIPE";

// The job's own program only waits for the one in the terminal, at a pipe in the rank's /tmp that
// this one has open while it runs: so the job ends with it, whatever becomes of the terminal, the
// network and `hai`, and with its exit code. If nobody comes within a minute it ends, too.
constexpr const char* kWait = R"(pipe=$JOB_TERMINAL_PIPE
rm -f "$pipe"
mkfifo -m 600 "$pipe" || exit 1
(
  seconds=0
  while [ -p "$pipe" ] && kill -0 $$; do
    seconds=$((seconds + 1))
    if [ $seconds -gt 60 ]; then
      echo "nobody opened its terminal within a minute"
      kill $$
    fi
    sleep 1
  done
) 2>/dev/null &
code=
read -r code <"$pipe"
exit "${code:-129}"
)";

// What is run in the terminal, once the job waits for it. The pipe is for this shell alone, so that
// nothing that its program leaves behind keeps the job. A program that ends by a signal is told as
// a shell tells it.
constexpr const char* kRun = R"(tries=0
while [ ! -p "$JOB_TERMINAL_PIPE" ]; do
  tries=$((tries + 1))
  if [ $tries -gt 300 ]; then
    echo "the job does not wait for its terminal" >&2
    exit 1
  fi
  sleep 0.1
done
exec 9>"$JOB_TERMINAL_PIPE" || exit 1
rm -f "$JOB_TERMINAL_PIPE"
unset JOB_TERMINAL_PIPE JOB_TERMINAL_SCRIPT tries
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
  bool is_over = false;
  bool has_left = false;
  const Status status = client.watch_job(
      request,
      [&](const v1::Job& now) {
        is_over = is_terminal(now);
        has_left = !is_over && now.state() != "running";
        return !is_over && !has_left;
      },
      kEndPatience);
  return has_left && (status.is_ok() || status.code() == Code::deadline_exceeded);
}

// Opens the terminal, again each time the job runs again, until the program has ended.
int follow_terminal(Session& session, Client& client, const v1::ShellOpen& open) {
  const std::string& job = open.job();
  detach_on_interrupt(
      fmt::format("job {0} still waits, and ends soon after it has begun: `hai stop {0}`", job));
  for (;;) {
    const Result<v1::Job> now = wait_until_running(client, job);
    if (!now.is_ok()) return session.fail(now.status());
    if (is_terminal(now.value())) {
      say(fmt::format("job {} {}: {}", job, now.value().state(), now.value().end_reason()));
      return exit_code_of_job(now.value().state(), std::nullopt);
    }
    const Result<int> code = enter_job(client, open, true);
    if (!goes_on(client, job)) return code.is_ok() ? code.value() : session.fail(code.status());
    say(fmt::format(
        "job {} had to leave its node, and its program with it: it begins anew when the "
        "job runs again",
        job));
  }
}

}  // namespace

int run_interactive(Session& session, JobSpec spec, const std::vector<std::string>& command) {
  if (spec.node_count != 1 || !spec.array.empty()) {
    return session.usage_error(
        "a terminal is for a job of one node; `hai shell JOB -r RANK` opens one in any rank of "
        "others");
  }
  if (::isatty(STDIN_FILENO) == 0) return session.usage_error("--pty: this is no terminal");
  spec.entrypoint = "/bin/sh";
  spec.launch = LaunchMode::per_node;
  std::vector<std::string> words = {"-c", fmt::format("eval \"${}\"", kScriptVariable), "terminal"};
  words.insert(words.end(), command.begin(), command.end());
  spec.parameters = join_words(words);  // the command is for people to see
  spec.environments[kScriptVariable] = kWait;
  spec.environments[kPipeVariable] = "/tmp/.hai-terminal-" + new_request_id();
  if (const std::vector<SpecError> errors = check_job_spec(spec); !errors.empty()) {
    for (const SpecError& error : errors) say(to_string(error));
    return kUsage;
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::SubmitJobReply reply;
  if (const int code = send_job(session, *client.value(), spec, nullptr, reply); code != kOk) {
    return code;
  }
  say(fmt::format("job {} submitted: {}", reply.job_id(), reply.name()));
  v1::ShellOpen open;
  open.set_job(std::to_string(reply.job_id()));
  for (const char* word : {"/bin/sh", "-c", kRun, "terminal"}) {
    open.mutable_program()->add_argv(word);
  }
  for (const std::string& word : command) open.mutable_program()->add_argv(word);
  return follow_terminal(session, *client.value(), open);
}

}  // namespace hai::cli
