#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/commands/each_job.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/submission.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

struct RerunOptions {
  JobSelection which{.among = JobSelection::Among::ended};
  std::string name;
  bool follow = false;
  OutputFormat output = OutputFormat::table;
};

Result<v1::SubmitJobReply> rerun_one(Client& client, const std::string& job,
                                     const std::string& name) {
  v1::RerunJobRequest request;
  request.set_job(job);
  request.set_name(name);
  request.set_request_id(new_request_id());
  return client.rerun_job(request);
}

// A line for each, and the exit code of the first that was refused.
int rerun_several(Session& session, Client& client, const std::vector<std::string>& jobs,
                  OutputFormat output) {
  int exit_code = kOk;
  std::vector<Json> items;
  for (const std::string& job : jobs) {
    const Result<v1::SubmitJobReply> reply = rerun_one(client, job, "");
    if (!reply.is_ok()) {
      const int code = session.fail(reply.status());
      if (exit_code == kOk) exit_code = code;
      continue;
    }
    const v1::SubmitJobReply& made = reply.value();
    items.push_back({{"id", made.job_id()}, {"name", made.name()}});
    if (!is_json(output)) {
      print(fmt::format("{}: submitted as {} ({})\n", job, made.name(), made.job_id()));
    }
  }
  if (is_json(output)) print(format_json_list(items, output));
  return exit_code;
}

int rerun(Session& session, const RerunOptions& options) {
  if (const Status status = check_selection("rerun", options.which); !status.is_ok()) {
    return session.usage_error(status.message());
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<std::vector<std::string>> jobs = find_selected(*client.value(), options.which);
  if (!jobs.is_ok()) return session.fail(jobs.status());
  if (jobs.value() != options.which.words || jobs.value().size() > 1) {
    if (options.follow || !options.name.empty()) {
      return session.usage_error("--name and --follow are for one job");
    }
    return rerun_several(session, *client.value(), jobs.value(), options.output);
  }
  const Result<v1::SubmitJobReply> reply =
      rerun_one(*client.value(), jobs.value().front(), options.name);
  if (!reply.is_ok()) return session.fail(reply.status());
  return tell_submitted(session, *client.value(), reply.value(), options.output, options.follow);
}

}  // namespace

void add_rerun(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("rerun", "Submit jobs again, as they were")->group("Submit");
  const auto options = std::make_shared<RerunOptions>();
  add_job_selection(*verb, options->which);
  verb->add_option("--name", options->name,
                   "default: its name, or one like it if an unfinished job has that");
  verb->add_flag("-f,--follow", options->follow, "show its log and end with its exit code");
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .details =
          "An id or a name may be of a job that ended long ago; patterns and filters mean the "
          "latest job of each name, if that one has ended. Secrets are those of today. Jobs that "
          "wait for "
          "the old one in vain wait for the new "
          "one; what the old one still waited for when it ended, the new one waits for.",
      .examples = {{"hai rerun prep", "your latest job of that name"},
                   {"hai rerun 17 --name train-b -f", "under another name; follow its log"},
                   {"hai rerun 'sweep-*' --state failed", "those of a sweep that failed"},
                   {"hai rerun --array 17 --state failed", "the tasks of an array that failed"}}};
  verb->callback([&session, options] { session.exit_code = rerun(session, *options); });
}

}  // namespace hai::cli
