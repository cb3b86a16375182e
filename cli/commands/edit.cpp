#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/commands/each_job.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"
#include "cli/time_option.h"
#include "common/array_range.h"

namespace hai::cli {
namespace {

struct EditOptions {
  JobSelection which;
  std::string timeout;
  std::optional<int> nodes;
  std::string priority;
  std::string begin_at;
  std::vector<std::string> tags;
  bool no_tags = false;
  std::optional<int> array_limit;
  OutputFormat output = OutputFormat::table;
};

Status fill(const EditOptions& options, v1::EditJobRequest& request) {
  request.set_timeout(options.timeout == "none" ? "0s" : options.timeout);
  if (options.nodes) request.set_node_count(*options.nodes);
  request.set_priority(options.priority);
  request.set_begin_now(options.begin_at == "now");
  if (!options.begin_at.empty() && options.begin_at != "now") {
    const Result<UnixTime> time = read_time_option("--begin-at", options.begin_at, FromNow::ahead);
    RETURN_IF_ERROR(time.status());
    request.set_begin_at_us(to_micros(time.value()));
  }
  if (options.array_limit) request.set_array_limit(*options.array_limit);
  request.set_set_tags(options.no_tags || !options.tags.empty());
  request.mutable_tags()->Assign(options.tags.begin(), options.tags.end());
  return ok();
}

bool changes_something(const v1::EditJobRequest& request) {
  return !request.timeout().empty() || request.has_node_count() || !request.priority().empty() ||
         request.has_begin_at_us() || request.begin_now() || request.set_tags() ||
         request.has_array_limit();
}

int edit(Session& session, const EditOptions& options) {
  v1::EditJobRequest request;
  if (const Status filled = fill(options, request); !filled.is_ok()) {
    return session.usage_error(filled.message());
  }
  if (!changes_something(request)) {
    return session.usage_error(
        "hai edit needs one of --timeout, --tag, --no-tags, --nodes, --priority, --begin-at, "
        "--array-limit (see hai help edit)");
  }
  return change_each_job(session, "edit", options.which, options.output,
                         [&](Client& client, const std::string& name) -> Result<JobChange> {
                           request.set_job(name);
                           const Result<v1::EditJobReply> reply = client.edit_job(request);
                           RETURN_IF_ERROR(reply.status());
                           const v1::Job& job = reply.value().job();
                           return JobChange{
                               job, fmt::format("{} ({}): {}", printable(job.name()), job.id(),
                                                printable(reply.value().message()))};
                         });
}

}  // namespace

void add_edit(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("edit", "Change what may still change of unfinished jobs")->group("Jobs");
  const auto options = std::make_shared<EditOptions>();
  verb->add_option("JOB", options->which.words, kJobOperandText)->required();
  verb->add_option("--timeout", options->timeout,
                   "longest time of one attempt, e.g. 12h, or none; also of the one that runs")
      ->type_name("DURATION");
  CLI::Option* tags = verb->add_option("--tag", options->tags, "its tags from now on; repeatable")
                          ->allow_extra_args(false);
  verb->add_flag("--no-tags", options->no_tags, "take all its tags away")->excludes(tags);
  verb->add_option("-n,--nodes", options->nodes, "nodes to run on; only while it waits")
      ->check(CLI::Range(1, 100'000));
  verb->add_option("-p,--priority", options->priority, "only while it waits; see hai priority");
  verb->add_option("--begin-at", options->begin_at,
                   "not before, e.g. 2h or 2026-11-20T08:00:00Z, or now; only while it waits")
      ->type_name("TIME");
  verb->add_option("--array-limit", options->array_limit,
                   "of an array: how many of its tasks may be unfinished at once; 0 = any number")
      ->check(CLI::Range(0, kArrayTasksMax));
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .details = "The rest of a job stays as it was submitted; `hai describe` shows it.",
      .examples = {{"hai edit train --timeout 48h", "more time, also for the attempt that runs"},
                   {"hai edit train -n 2 --begin-at now", "smaller, and at once"},
                   {"hai edit 17_[1-5] 'sweep-*' --timeout 2h", "several; tasks of an array"},
                   {"hai edit 17 --array-limit 50 --timeout 2h",
                    "an array: all its tasks, also those still to come"}}};
  verb->callback([&session, options] { session.exit_code = edit(session, *options); });
}

}  // namespace hai::cli
