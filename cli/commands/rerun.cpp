#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/submission.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

struct RerunOptions {
  std::string job;
  std::string name;
  bool follow = false;
  OutputFormat output = OutputFormat::table;
};

int rerun(Session& session, const RerunOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::RerunJobRequest request;
  request.set_job(options.job);
  request.set_name(options.name);
  request.set_request_id(new_request_id());
  const Result<v1::SubmitJobReply> reply = client.value()->rerun_job(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  return tell_submitted(session, *client.value(), reply.value(), options.output, options.follow);
}

}  // namespace

void add_rerun(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("rerun", "Submit a job again, as it was")->group("Submit");
  const auto options = std::make_shared<RerunOptions>();
  verb->add_option("JOB", options->job, "id or name; one that ended long ago, too")->required();
  verb->add_option("--name", options->name,
                   "default: its name, or one like it if an unfinished job has that");
  verb->add_flag("-f,--follow", options->follow, "show its log and end with its exit code");
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .details =
          "Secrets are those of today. Jobs that wait for the old one in vain wait for the new "
          "one; what the old one still waited for when it ended, the new one waits for.",
      .examples = {{"hai rerun prep", "your latest job of that name"},
                   {"hai rerun 17 --name train-b -f", "under another name; follow its log"}}};
  verb->callback([&session, options] { session.exit_code = rerun(session, *options); });
}

}  // namespace hai::cli
