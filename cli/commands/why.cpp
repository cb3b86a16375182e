#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

struct Options {
  std::string job;
  OutputFormat output = OutputFormat::table;
};

std::string text_of(const v1::WhyJobReply& why, const Terminal& terminal) {
  const v1::Job& job = why.job();
  std::string text = fmt::format("job {} {} is {}", job.id(), printable(job.name()),
                                 paint(job.state(), colour_of(job.state()), terminal));
  if (why.reason().code().empty()) return text + "\n";
  text += fmt::format(": {} ({})\n", printable(why.reason().text()), why.reason().code());
  for (const v1::BlockingFact& fact : why.facts()) {
    text += fmt::format("  - {}", printable(fact.text()));
    if (fact.holders_size() > 0) {
      text += fmt::format(" [{}]", join({fact.holders().begin(), fact.holders().end()}, ", "));
    }
    text += "\n";
  }
  if (why.has_start_p50_us()) {
    text += fmt::format("expected to start about {}", local_time(why.start_p50_us()));
    if (why.has_start_p90_us())
      text += fmt::format(", by {} at the latest (9 of 10)", local_time(why.start_p90_us()));
    text += "\n";
  }
  return text;
}

int why(Session& session, const Options& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::WhyJobRequest request;
  request.set_job(options.job);
  request.set_with_estimate(true);
  const Result<v1::WhyJobReply> reply = client.value()->why_job(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  print(is_json(options.output) ? format_json(to_json(reply.value()), options.output)
                                : text_of(reply.value(), session.terminal));
  return kOk;
}

}  // namespace

void add_why(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("why", "Say why a job waits and what holds it up")->group("Jobs");
  const auto options = std::make_shared<Options>();
  verb->add_option("JOB", options->job, "id or name")->required();
  add_output_option(*verb, options->output);
  verb->callback([&session, options] { session.exit_code = why(session, *options); });
}

}  // namespace hai::cli
