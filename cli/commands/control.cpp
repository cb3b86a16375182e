#include "cli/commands/control.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/client.h"
#include "cli/commands/each_job.h"
#include "cli/exit_code.h"
#include "cli/job_names.h"
#include "cli/node_names.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/time_option.h"
#include "common/hostlist.h"

namespace hai::cli {
namespace {

constexpr size_t kJobsAtOnce = 1'000;  // that the server takes

struct ControlOptions {
  std::vector<std::string> names;
  JobSelection which;
  std::string reason;
  bool yes = false;
  bool together = false;
  std::string deadline;
  std::optional<std::string> group;
  std::optional<std::string> zone;
  std::optional<std::string> leaf;
  std::optional<std::string> labels;
  std::vector<std::string> reset;
  OutputFormat output = OutputFormat::table;
};

std::string subject(const v1::ControlResult& result) {
  const std::string id = std::to_string(result.job_id());
  if (result.job_id() == 0 || id == result.name()) return result.name();
  return fmt::format("{} ({})", result.name(), id);
}

struct Outcome {
  std::string subject;
  Status status;
  std::string message;
};

// Nodes that fared alike share a line.
std::vector<Outcome> folded(const std::vector<Outcome>& outcomes) {
  std::vector<Outcome> lines;
  std::vector<std::vector<std::string>> names;
  for (const Outcome& outcome : outcomes) {
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const Outcome& line) {
      return line.status == outcome.status && line.message == outcome.message;
    });
    const auto at = static_cast<size_t>(same - lines.begin());
    if (same == lines.end()) {
      lines.push_back(outcome);
      names.emplace_back();
    }
    names[at].push_back(outcome.subject);
  }
  for (size_t i = 0; i < lines.size(); ++i) lines[i].subject = format_hostlist(names[i]);
  return lines;
}

// One line for each; the exit code of the first that was refused.
int tell(Session& session, const std::vector<Outcome>& outcomes, bool quiet) {
  int exit_code = kOk;
  for (const Outcome& outcome : outcomes) {
    if (!outcome.status.is_ok()) {
      const int code = session.fail(outcome.status);
      if (exit_code == kOk) exit_code = code;
    } else if (!quiet) {
      print(outcome.subject + outcome.message + "\n");
    }
  }
  return exit_code;
}

enum class Fold { no, yes };

template <typename Results>
int report(Session& session, const ControlVerb& verb, const Results& results, OutputFormat output,
           Fold fold) {
  std::vector<Json> items;
  std::vector<Outcome> outcomes;
  for (const v1::ControlResult& result : results) {
    const Status status(static_cast<Code>(result.code()), result.message());
    items.push_back({{"name", result.name()},
                     {"id", result.job_id() == 0 ? Json() : Json(result.job_id())},
                     {"code", to_string(status.code())},
                     {"message", result.message()}});
    // The server knows best what it did; the verb's own words are for one that says nothing.
    const std::string& message = result.message();
    outcomes.push_back(
        {subject(result), status, message.empty() ? " " + verb.done : ": " + message});
  }
  const int exit_code =
      tell(session, fold == Fold::yes ? folded(outcomes) : outcomes, is_json(output));
  if (is_json(output)) print(format_json_list(items, output));
  return exit_code;
}

int control_jobs(Session& session, const ControlVerb& verb, const ControlOptions& options) {
  JobSelection which = options.which;
  which.words = options.names;
  if (const Status status = check_selection(verb.verb, which); !status.is_ok()) {
    return session.usage_error(status.message());
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<std::vector<std::string>> jobs = find_selected(*client.value(), which);
  if (!jobs.is_ok()) return session.fail(jobs.status());
  v1::ControlJobReply all;
  for (size_t begin = 0; begin < jobs.value().size(); begin += kJobsAtOnce) {
    const size_t end = std::min(jobs.value().size(), begin + kJobsAtOnce);
    v1::ControlJobRequest request;
    for (size_t i = begin; i < end; ++i) request.add_jobs(jobs.value()[i]);
    request.set_action(static_cast<v1::JobAction>(verb.action));
    request.set_reason(options.reason);
    const Result<v1::ControlJobReply> reply = client.value()->control_job(request);
    if (!reply.is_ok()) return session.fail(reply.status());
    all.MergeFrom(reply.value());
  }
  return report(session, verb, all.results(), options.output, Fold::no);
}

// Asks on a terminal; a script must have said --yes.
bool is_confirmed(const ControlVerb& verb, const ControlOptions& options) {
  if (verb.danger.empty() || options.yes) return true;
  if (isatty(STDIN_FILENO) == 0) return false;
  std::fprintf(stderr, "%s\nGo on? [y/N] ", verb.danger.c_str());
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

// False: nothing is to be set.
bool take_settings(const ControlOptions& options, v1::ControlNodeRequest& request) {
  if (options.group) request.set_group(*options.group);
  if (options.zone) request.set_zone(*options.zone);
  if (options.leaf) request.set_leaf(*options.leaf);
  if (options.labels) request.set_labels(*options.labels);
  request.mutable_reset()->Assign(options.reset.begin(), options.reset.end());
  return options.group || options.zone || options.leaf || options.labels || !options.reset.empty();
}

int control_nodes(Session& session, const ControlVerb& verb, const ControlOptions& options) {
  if (!is_confirmed(verb, options)) {
    return session.usage_error(
        fmt::format("{}: not done: {} Say --yes if so", verb.verb, verb.danger));
  }
  if (const auto names = parse_node_names(options.names); !names.is_ok()) {
    return session.usage_error(names.status().message());
  }
  v1::ControlNodeRequest request;
  if (!options.deadline.empty()) {
    const Result<UnixTime> deadline =
        read_time_option("--deadline", options.deadline, FromNow::ahead);
    if (!deadline.is_ok()) return session.usage_error(deadline.status().message());
    request.set_deadline_us(to_micros(deadline.value()));
  }
  if (!take_settings(options, request) && verb.sets) {
    return session.usage_error("set: what? Name --group, --zone, --leaf, --labels or --reset");
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  request.mutable_nodes()->Assign(options.names.begin(), options.names.end());
  request.set_action(static_cast<v1::NodeAction>(verb.action));
  request.set_reason(options.reason);
  request.set_together(options.together);
  const Result<v1::ControlNodeReply> reply = client.value()->control_node(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  return report(session, verb, reply.value().results(), options.output, Fold::yes);
}

CLI::App* add_verb(CLI::App& app, const ControlVerb& verb, const std::string& operand,
                   const std::string& operand_text, ControlOptions& options) {
  CLI::App* subcommand = app.add_subcommand(verb.verb, verb.description);
  subcommand->add_option(operand, options.names, operand_text);
  subcommand->add_option("--reason", options.reason, "shown to everybody who asks why");
  if (!verb.danger.empty()) subcommand->add_flag("-y,--yes", options.yes, "do not ask");
  if (!verb.together.empty()) subcommand->add_flag("--together", options.together, verb.together);
  if (!verb.deadline.empty()) {
    subcommand->add_option("--deadline", options.deadline, verb.deadline);
  }
  if (verb.sets) {
    subcommand->add_option("--group", options.group, "of a node without jobs: whose jobs it takes");
    subcommand->add_option("--zone", options.zone, "of a node without jobs; '' = none");
    subcommand->add_option("--leaf", options.leaf, "the switch it is at; '' = none");
    subcommand->add_option("--labels", options.labels,
                           "all that it has from now on: a,b; '' = none");
    subcommand
        ->add_option("--reset", options.reset,
                     "as its agent's config says again: group, zone, leaf, labels")
        ->delimiter(',')
        ->check(CLI::IsMember({"group", "zone", "leaf", "labels"}));
  }
  add_output_option(*subcommand, options.output);
  return subcommand;
}

}  // namespace

void add_job_control(CLI::App& app, Session& session, const ControlVerb& verb) {
  const auto options = std::make_shared<ControlOptions>();
  CLI::App* subcommand = add_verb(app, verb, "JOB", kJobOperandText, *options);
  add_job_filters(*subcommand, options->which);
  session.help[subcommand] = verb.help;
  subcommand->group("Jobs")->callback(
      [&session, verb, options] { session.exit_code = control_jobs(session, verb, *options); });
}

void add_node_control(CLI::App& app, Session& session, const ControlVerb& verb) {
  const auto options = std::make_shared<ControlOptions>();
  CLI::App* subcommand = add_verb(app, verb, "NODE", "names or lists: node-[1-4,7]", *options);
  subcommand->get_option("NODE")->required();
  session.help[subcommand] = verb.help;
  subcommand->group("Cluster")->callback(
      [&session, verb, options] { session.exit_code = control_nodes(session, verb, *options); });
}

}  // namespace hai::cli
