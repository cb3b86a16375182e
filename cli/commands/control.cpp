#include "cli/commands/control.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

struct Options {
  std::vector<std::string> names;
  std::string reason;
  bool yes = false;
  OutputFormat output = OutputFormat::table;
};

std::string subject(const v1::ControlResult& result) {
  const std::string id = std::to_string(result.job_id());
  if (result.job_id() == 0 || id == result.name()) return result.name();
  return fmt::format("{} ({})", result.name(), id);
}

// One line for each; the exit code of the first that was refused.
template <typename Results>
int report(Session& session, const ControlVerb& verb, const Results& results, OutputFormat output) {
  int exit_code = kOk;
  std::vector<Json> items;
  for (const v1::ControlResult& result : results) {
    const Status status(static_cast<Code>(result.code()), result.message());
    items.push_back({{"name", result.name()},
                     {"id", result.job_id() == 0 ? Json() : Json(result.job_id())},
                     {"code", to_string(status.code())},
                     {"message", result.message()}});
    if (!status.is_ok()) {
      const int code = session.fail(status);
      if (exit_code == kOk) exit_code = code;
    } else if (!is_json(output)) {
      // The server knows best what it did; the verb's own words are for one that says nothing.
      const std::string& message = result.message();
      print(fmt::format("{}{} {}\n", subject(result), message.empty() ? "" : ":",
                        message.empty() ? verb.done : message));
    }
  }
  if (is_json(output)) print(format_json_list(items, output));
  return exit_code;
}

int control_jobs(Session& session, const ControlVerb& verb, const Options& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::ControlJobRequest request;
  request.mutable_jobs()->Assign(options.names.begin(), options.names.end());
  request.set_action(static_cast<v1::JobAction>(verb.action));
  request.set_reason(options.reason);
  const Result<v1::ControlJobReply> reply = client.value()->control_job(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  return report(session, verb, reply.value().results(), options.output);
}

// On a terminal by answering, in a script by --yes.
bool is_confirmed(const ControlVerb& verb, const Options& options) {
  if (verb.danger.empty() || options.yes) return true;
  if (isatty(STDIN_FILENO) == 0) return false;
  std::fprintf(stderr, "%s\nGo on? [y/N] ", verb.danger.c_str());
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int control_nodes(Session& session, const ControlVerb& verb, const Options& options) {
  if (!is_confirmed(verb, options)) {
    return session.usage_error(
        fmt::format("{}: not done: {} Say --yes if so", verb.verb, verb.danger));
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::ControlNodeRequest request;
  request.mutable_nodes()->Assign(options.names.begin(), options.names.end());
  request.set_action(static_cast<v1::NodeAction>(verb.action));
  request.set_reason(options.reason);
  const Result<v1::ControlNodeReply> reply = client.value()->control_node(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  return report(session, verb, reply.value().results(), options.output);
}

CLI::App* add_verb(CLI::App& app, const ControlVerb& verb, const std::string& operand,
                   const std::string& operand_text, Options& options) {
  CLI::App* subcommand = app.add_subcommand(verb.verb, verb.description);
  subcommand->add_option(operand, options.names, operand_text)->required();
  subcommand->add_option("--reason", options.reason, "shown to everybody who asks why");
  if (!verb.danger.empty()) subcommand->add_flag("-y,--yes", options.yes, "do not ask");
  add_output_option(*subcommand, options.output);
  return subcommand;
}

}  // namespace

void add_job_control(CLI::App& app, Session& session, const ControlVerb& verb) {
  const auto options = std::make_shared<Options>();
  CLI::App* subcommand = add_verb(app, verb, "JOB", "ids or names", *options);
  subcommand->group("Jobs")->callback(
      [&session, verb, options] { session.exit_code = control_jobs(session, verb, *options); });
}

void add_node_control(CLI::App& app, Session& session, const ControlVerb& verb) {
  const auto options = std::make_shared<Options>();
  CLI::App* subcommand = add_verb(app, verb, "NODE", "names or lists: node-[1-4,7]", *options);
  subcommand->group("Cluster")->callback(
      [&session, verb, options] { session.exit_code = control_nodes(session, verb, *options); });
}

}  // namespace hai::cli
