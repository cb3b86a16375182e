// What would happen: asked of the server, which changes nothing.

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/commands/job_file_input.h"
#include "cli/commands/quota_view.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/node_names.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/submission.h"
#include "cli/table.h"
#include "cli/why_view.h"
#include "common/spec/job_spec_yaml.h"
#include "proto/convert/spec_convert.h"

namespace hai::cli {
namespace {

struct WhatifOptions {
  std::string file;
  SubmissionOptions submission;
  std::vector<std::string> drained;
  std::string owner;
  std::string group;
  std::string job;
  std::string priority;
  std::string nodes;
  OutputFormat output = OutputFormat::table;
};

Colour colour_of_effect(const std::string& effect) {
  if (effect == "starts" || effect == "keeps_running") return Colour::green;
  return effect == "suspended" ? Colour::red : Colour::yellow;
}

std::string text_of(const v1::WhatIfReply& reply, const Terminal& terminal) {
  std::string text = printable(reply.text()) + "\n";
  if (reply.differences_size() == 0) text += "no job would fare differently\n";
  Table table({{"JOB", true}, {"NAME"}, {"USER"}, {"PRIORITY"}, {"EFFECT"}, {"HOW", false, true}});
  for (const v1::JobDifference& each : reply.differences()) {
    table.add_row({std::to_string(each.job_id()),
                   printable(each.name()),
                   printable(each.user()),
                   each.priority(),
                   {each.effect(), colour_of_effect(each.effect())},
                   printable(each.text())});
  }
  if (!table.is_empty()) text += table.render(terminal);
  if (reply.differences_left_out() > 0) {
    text += fmt::format("and {} more\n", reply.differences_left_out());
  }
  if (reply.has_job() && reply.job().job().has_pending_reason()) {
    text += "\n" + why_text(reply.job(), terminal);
  }
  return text + paint("nothing was changed\n", Colour::grey, terminal);
}

int ask(Session& session, const v1::WhatIfRequest& request, OutputFormat output,
        const JobFile* file = nullptr) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::WhatIfReply> reply = client.value()->what_if(request);
  if (!reply.is_ok()) {
    return session.fail(file == nullptr ? reply.status() : file->locate(reply.status()));
  }
  print(is_json(output) ? format_json(to_json(reply.value()), output)
                        : text_of(reply.value(), session.terminal));
  return kOk;
}

int submit_job(Session& session, const WhatifOptions& options) {
  const Result<JobFile> file = read_job_file(options.file);
  if (!file.is_ok()) return session.usage_error(file.status().message());
  JobSpec spec;
  std::vector<SpecError> errors, warnings;
  parse_job_spec(file.value().text, &spec, &errors, &warnings);
  if (!errors.empty()) return report_spec_errors(file.value(), errors);
  tell_spec_warnings(file.value(), warnings);
  if (const Status status = apply_options(options.submission, spec); !status.is_ok()) {
    return session.usage_error(status.message());
  }
  v1::WhatIfRequest request;
  *request.mutable_submit() = to_proto(spec);
  return ask(session, request, options.output, &file.value());
}

int drain(Session& session, const WhatifOptions& options) {
  if (const auto names = parse_node_names(options.drained); !names.is_ok()) {
    return session.usage_error(names.status().message());
  }
  v1::WhatIfRequest request;
  request.mutable_drain()->mutable_nodes()->Assign(options.drained.begin(), options.drained.end());
  return ask(session, request, options.output);
}

int quota(Session& session, const WhatifOptions& options) {
  const Result<int> nodes = parse_quota_nodes(options.nodes);
  if (!nodes.is_ok()) return session.usage_error(nodes.status().message());
  const Status status = check_quota_priority(options.priority);
  if (!status.is_ok()) return session.usage_error(status.message());
  v1::WhatIfRequest request;
  request.mutable_quota()->set_owner(options.owner);
  request.mutable_quota()->set_group(options.group);
  request.mutable_quota()->set_priority(options.priority);
  request.mutable_quota()->set_nodes(nodes.value());
  return ask(session, request, options.output);
}

int priority(Session& session, const WhatifOptions& options) {
  const Result<Priority> wanted = parse_priority(options.priority);
  if (!wanted.is_ok()) return session.usage_error(wanted.status().message());
  v1::WhatIfRequest request;
  request.mutable_priority()->set_job(options.job);
  request.mutable_priority()->set_priority(options.priority);
  return ask(session, request, options.output);
}

template <typename Run>
CLI::App* add_change(CLI::App& whatif, Session& session,
                     const std::shared_ptr<WhatifOptions>& options, const char* name,
                     const char* text, Run run) {
  CLI::App* verb = whatif.add_subcommand(name, text);
  add_output_option(*verb, options->output);
  verb->callback([&session, options, run] { session.exit_code = run(session, *options); });
  return verb;
}

}  // namespace

void add_whatif(CLI::App& app, Session& session) {
  CLI::App* whatif =
      app.add_subcommand("whatif",
                         "Say who would start, stop or wait after a change; change nothing")
          ->group("Jobs");
  whatif->require_subcommand(1);
  session.help[whatif] = {
      .examples = {
          {"hai whatif submit train.yaml -n 64", "when would it start, whom would it interrupt"},
          {"hai whatif drain node-[1-4]", "whose jobs would have to go"},
          {"hai whatif quota ann training high 8", ""},
          {"hai whatif priority train very_high", ""}}};
  const auto options = std::make_shared<WhatifOptions>();
  CLI::App* verb =
      add_change(*whatif, session, options, "submit", "What if I submit this job", submit_job);
  verb->add_option("FILE", options->file, "the job file; - reads standard input")->required();
  SubmissionOptions& submission = options->submission;
  verb->add_option("-n,--nodes", submission.nodes, "nodes to run on")
      ->check(CLI::Range(1, 100'000));
  verb->add_option("-g,--group", submission.group, "node group; GROUP#ZONE pins a zone");
  verb->add_option("-p,--priority", submission.priority, "auto, low ... extreme_high");
  verb->add_option("--gpus", submission.gpus, "GPUs per node")->check(CLI::Range(0, 64));
  verb->add_option("--name", submission.name, "another name");

  verb = add_change(*whatif, session, options, "drain", "What if these nodes are drained", drain);
  verb->add_option("NODE", options->drained, "names or lists: node-[1-4,7]")->required();

  verb = add_change(*whatif, session, options, "quota", "What if a quota were this", quota);
  verb->add_option("OWNER", options->owner, "a user, a user group, or public")->required();
  verb->add_option("GROUP", options->group, "node group; * = every one")->required();
  verb->add_option("PRIORITY", options->priority, "a priority; * = every one")->required();
  verb->add_option("NODES", options->nodes, "number of nodes, or unlimited")->required();

  verb = add_change(*whatif, session, options, "priority", "What if a job had another priority",
                    priority);
  verb->add_option("JOB", options->job, "id or name")->required();
  verb->add_option("PRIORITY", options->priority, "a word such as high, or HAI's number")
      ->required();
}

}  // namespace hai::cli
