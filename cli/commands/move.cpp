#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/commands/each_job.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

struct MoveOptions {
  JobSelection which;
  std::string before;
  bool is_first = false;
  bool is_last = false;
  OutputFormat output = OutputFormat::table;
};

int move(Session& session, const MoveOptions& options) {
  v1::MoveJobRequest request;
  if (options.is_first) request.set_first(true);
  if (options.is_last) request.set_last(true);
  if (!options.before.empty()) request.set_before(options.before);
  // Several stay in their order: of those that go to the front the last one goes first.
  return change_each_job(
      session, "move", options.which, options.output,
      [&](Client& client, const std::string& name) -> Result<JobChange> {
        request.set_job(name);
        const Result<v1::MoveJobReply> reply = client.move_job(request);
        RETURN_IF_ERROR(reply.status());
        const v1::Job& job = reply.value().job();
        return JobChange{job, fmt::format("{} ({}) {}", printable(job.name()), job.id(),
                                          printable(reply.value().message()))};
      },
      options.is_first ? Turn::newest_first : Turn::oldest_first);
}

}  // namespace

void add_move(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("move", "Reorder your own waiting jobs of one node group")->group("Jobs");
  const auto options = std::make_shared<MoveOptions>();
  verb->add_option("JOB", options->which.words, kJobOperandText)->required();
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
                   {"hai move train --before sweep-3", "just before another of your jobs"},
                   {"hai move 17-20 'lr-*' --last", "several, in their order"}}};
  verb->callback([&session, options] { session.exit_code = move(session, *options); });
}

}  // namespace hai::cli
