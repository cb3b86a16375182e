#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

struct MoveOptions {
  std::string job;
  std::string before;
  bool is_first = false;
  bool is_last = false;
  OutputFormat output = OutputFormat::table;
};

int move(Session& session, const MoveOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::MoveJobRequest request;
  request.set_job(options.job);
  if (options.is_first) request.set_first(true);
  if (options.is_last) request.set_last(true);
  if (!options.before.empty()) request.set_before(options.before);
  const Result<v1::MoveJobReply> reply = client.value()->move_job(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  const v1::Job& job = reply.value().job();
  print(is_json(options.output) ? format_json(to_json(job), options.output)
                                : fmt::format("{} ({}) {}\n", printable(job.name()), job.id(),
                                              printable(reply.value().message())));
  return kOk;
}

}  // namespace

void add_move(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("move", "Reorder your own waiting jobs of one node group")->group("Jobs");
  const auto options = std::make_shared<MoveOptions>();
  verb->add_option("JOB", options->job, "id or name")->required();
  CLI::Option_group* where = verb->add_option_group("where");
  where->add_option("--before", options->before, "another of your waiting jobs of the same group")
      ->type_name("JOB");
  where->add_flag("--first", options->is_first, "before all of them");
  where->add_flag("--last", options->is_last, "after all of them");
  where->require_option(1);
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .details =
          "Priority, quota and the GPU time a job has had still come first; nobody else's place "
          "changes.",
      .examples = {{"hai move train --first", "before all your other waiting jobs of the group"},
                   {"hai move train --before sweep-3", "just before another of your jobs"}}};
  verb->callback([&session, options] { session.exit_code = move(session, *options); });
}

}  // namespace hai::cli
