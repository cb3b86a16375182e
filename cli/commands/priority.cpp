#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/commands/each_job.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"
#include "common/job_spec.h"

namespace hai::cli {
namespace {

struct PriorityOptions {
  JobSelection which;
  std::string first;               // a job, or the priority where filters choose the jobs
  std::vector<std::string> words;  // more jobs, and the priority
  OutputFormat output = OutputFormat::table;
};

Result<JobChange> set_priority(Client& client, const std::string& job,
                               const std::string& priority) {
  v1::SetJobPriorityRequest request;
  request.set_job(job);
  request.set_priority(priority);
  const Result<v1::Job> reply = client.set_job_priority(request);
  RETURN_IF_ERROR(reply.status());
  const v1::Job& now = reply.value();
  return JobChange{
      now, fmt::format("{} ({}): priority {}{}", printable(now.name()), now.id(), now.priority(),
                       now.state() == "running" ? "; the running attempt keeps its own" : "")};
}

int set_priorities(Session& session, const PriorityOptions& options) {
  JobSelection which = options.which;
  which.words = options.words;
  which.words.insert(which.words.begin(), options.first);
  const std::string priority = which.words.back();
  which.words.pop_back();
  if (which.words.empty() && !which.has_filters()) {
    return session.usage_error("hai priority needs PRIORITY behind JOB; see hai priority --help");
  }
  const Result<Priority> parsed = parse_priority(priority);
  if (!parsed.is_ok()) return session.usage_error(parsed.status().message());
  return change_each_job(
      session, "priority", which, options.output,
      [&](Client& client, const std::string& job) { return set_priority(client, job, priority); });
}

}  // namespace

void add_priority(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("priority", "Change the priority of unfinished jobs")->group("Jobs");
  const auto options = std::make_shared<PriorityOptions>();
  verb->add_option("JOB", options->first, kJobOperandText)->required();
  verb->add_option("PRIORITY", options->words, "last: a word such as high, or HAI's number");
  add_job_filters(*verb, options->which);
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .examples = {{"hai priority train high", "a word: auto, low, below_normal ... extreme_high"},
                   {"hai priority train 30", "HAI's number for the same"},
                   {"hai priority 17-29 18_[1-5] 'sweep-*' low", "several, and tasks of an array"},
                   {"hai priority low --tag lr", "those of yours that are so"}},
      .usage = "[OPTIONS] JOB... PRIORITY"};
  verb->callback([&session, options] { session.exit_code = set_priorities(session, *options); });
}

}  // namespace hai::cli
