#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"
#include "common/job_spec.h"

namespace hai::cli {
namespace {

struct PriorityOptions {
  std::string job;
  std::string priority;
  OutputFormat output = OutputFormat::table;
};

int set_priority(Session& session, const PriorityOptions& options) {
  const Result<Priority> priority = parse_priority(options.priority);
  if (!priority.is_ok()) return session.usage_error(priority.status().message());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::SetJobPriorityRequest request;
  request.set_job(options.job);
  request.set_priority(options.priority);
  const Result<v1::Job> reply = client.value()->set_job_priority(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  const v1::Job& job = reply.value();
  print(is_json(options.output)
            ? format_json(to_json(job), options.output)
            : fmt::format("{} ({}): priority {}{}\n", printable(job.name()), job.id(),
                          job.priority(),
                          job.state() == "running" ? "; the running attempt keeps its own" : ""));
  return kOk;
}

}  // namespace

void add_priority(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("priority", "Change the priority of an unfinished job")->group("Jobs");
  const auto options = std::make_shared<PriorityOptions>();
  verb->add_option("JOB", options->job, "id or name")->required();
  verb->add_option("PRIORITY", options->priority, "a word such as high, or HAI's number")
      ->required();
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .examples = {{"hai priority train high", "a word: auto, low, below_normal ... extreme_high"},
                   {"hai priority train 30", "HAI's number for the same"}}};
  verb->callback([&session, options] { session.exit_code = set_priority(session, *options); });
}

}  // namespace hai::cli
