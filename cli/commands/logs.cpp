#include <CLI/CLI.hpp>
#include <memory>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/follow.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

int follow(Session& session, Client& client, const LogOptions& options) {
  detach_on_interrupt(fmt::format(
      "no longer following, job {0} goes on: `hai logs -f {0}` follows it again", options.job));
  if (options.attempt > 0) {
    // One attempt was asked for: its end is the end.
    const Status status = print_log(client, options);
    return status.is_ok() ? kOk : session.fail(status);
  }
  const Result<v1::Job> job = follow_job(client, options);
  return job.is_ok() ? kOk : session.fail(job.status());
}

int logs(Session& session, const LogOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  if (options.follow) return follow(session, *client.value(), options);
  v1::GetJobRequest request;
  request.set_job(options.job);
  const Result<v1::Job> job = client.value()->get_job(request);
  if (!job.is_ok()) return session.fail(job.status());
  if (job.value().attempt() == 0) {
    const std::string why =
        job.value().has_pending_reason() ? ": " + job.value().pending_reason().text() : "";
    say(fmt::format("job {} has no log yet, it is {}{}", job.value().id(), job.value().state(),
                    why));
    return kOk;
  }
  const Status status = print_log(*client.value(), options);
  return status.is_ok() ? kOk : session.fail(status);
}

}  // namespace

void add_logs(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("logs", "Print a job's log")->group("Jobs");
  const auto options = std::make_shared<LogOptions>();
  verb->add_option("JOB", options->job, "id or name")->required();
  verb->add_flag("-f,--follow", options->follow,
                 "go on until the job has ended, through suspensions");
  verb->add_option("-r,--rank", options->rank, "of this rank, 0 by default")
      ->check(CLI::Range(0, 100'000));
  verb->add_option("--attempt", options->attempt, "of this attempt, the latest by default")
      ->check(CLI::Range(1, 1'000'000'000));
  CLI::Option* lines = verb->add_option("--tail", options->tail_lines, "only so many last lines")
                           ->type_name("LINES")
                           ->check(CLI::Range(1, 1'000'000));
  verb->add_option("--tail-bytes", options->tail_bytes, "only about so many last bytes")
      ->type_name("BYTES")
      ->check(CLI::Range(1, 1'000'000'000))
      ->excludes(lines);
  session.help[verb] = {
      .examples = {{"hai logs train --tail 20", "the end of rank 0"},
                   {"hai logs -f train -r 1", "rank 1, until the job has ended"},
                   {"hai logs train --attempt 1", "what an earlier attempt wrote"}}};
  verb->callback([&session, options] { session.exit_code = logs(session, *options); });
}

}  // namespace hai::cli
