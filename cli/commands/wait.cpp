#include <CLI/CLI.hpp>
#include <memory>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/follow.h"
#include "cli/patience.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

struct WaitOptions {
  std::vector<std::string> jobs;
  std::string timeout;
};

int wait(Session& session, const WaitOptions& options) {
  std::optional<Duration> timeout;
  if (!options.timeout.empty()) {
    const Result<Duration> parsed = parse_duration(options.timeout);
    if (!parsed.is_ok()) return session.usage_error("--timeout: " + parsed.status().message());
    timeout = parsed.value();
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const MonoTime start = mono_now();
  int exit_code = kOk;
  for (const std::string& name : options.jobs) {
    std::optional<Duration> left;
    if (timeout) left = std::max<Duration>(*timeout - (mono_now() - start), 1ms);
    const Result<v1::Job> job = wait_for_job(*client.value(), name, left);
    if (timeout && job.status().code() == Code::deadline_exceeded) {
      say(fmt::format("job {} has not ended within {}", name, format_duration(*timeout)));
      return kTimedOut;
    }
    if (!job.is_ok()) return session.fail(job.status());
    const v1::Job& ended = job.value();
    say(end_text(ended));
    const int code = exit_code_of_ended(ended);
    if (exit_code == kOk) exit_code = code;
  }
  return exit_code;
}

}  // namespace

void add_wait(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("wait", "Wait until jobs have ended; ends with their exit code")
          ->group("Jobs");
  const auto options = std::make_shared<WaitOptions>();
  verb->add_option("JOB", options->jobs, "ids or names; the first exit code that is not 0 counts")
      ->required();
  verb->add_option("--timeout", options->timeout, "wait no longer, e.g. 90s; exit code 124")
      ->type_name("DURATION");
  session.help[verb] = {
      .examples = {{"hai wait train && hai run evaluate.yaml", "only if it has succeeded"},
                   {"hai wait 17 18 --timeout 2h", "124 if one has not ended by then"}},
      .exit_codes =
          "The job's own code; 1 if it failed and 130 if it was stopped without one; 124 after "
          "--timeout; 3 not found; 5 server not reached."};
  verb->callback([&session, options] { session.exit_code = wait(session, *options); });
}

}  // namespace hai::cli
