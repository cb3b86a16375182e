#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/why_view.h"

namespace hai::cli {
namespace {

struct WhyOptions {
  std::string job;
  bool without_estimate = false;
  OutputFormat output = OutputFormat::table;
};

int why(Session& session, const WhyOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::WhyJobRequest request;
  request.set_job(options.job);
  request.set_with_estimate(!options.without_estimate);
  const Result<v1::WhyJobReply> reply = client.value()->why_job(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  print(is_json(options.output) ? format_json(to_json(reply.value()), options.output)
                                : why_text(reply.value(), session.terminal));
  return kOk;
}

}  // namespace

void add_why(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("why", "Say why a job waits, what holds it up, and when it will start")
          ->group("Jobs");
  const auto options = std::make_shared<WhyOptions>();
  verb->add_option("JOB", options->job, "id or name")->required();
  verb->add_flag("--no-estimate", options->without_estimate, "do not ask when it will start");
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .examples = {{"hai why train", "what holds it up, and when it is likely to start"},
                   {"hai why train --no-estimate", "faster: only the reason"}}};
  verb->callback([&session, options] { session.exit_code = why(session, *options); });
}

}  // namespace hai::cli
