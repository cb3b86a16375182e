#include "cli/commands/describe.h"

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
#include "common/whole_number.h"

namespace hai::cli {
namespace {

constexpr int kEventsShown = 15;

struct DescribeOptions {
  std::vector<std::string> words;
  bool only_spec = false;
  OutputFormat output = OutputFormat::table;
};

struct Thing {
  std::string kind;  // job, node, incident; "" = not said
  std::string name;
};

bool is_kind(std::string_view word) {
  return word == "job" || word == "node" || word == "incident";
}

// "node/node-3", as events write it, or "node node-3", or only "node-3".
Result<std::vector<Thing>> things_of(const std::vector<std::string>& words) {
  std::vector<Thing> things;
  const bool has_kind = words.size() > 1 && is_kind(words.front());
  for (size_t i = has_kind ? 1 : 0; i < words.size(); ++i) {
    const size_t slash = words[i].find('/');
    const std::string kind = slash == std::string::npos ? "" : words[i].substr(0, slash);
    if (has_kind) {
      things.push_back({words.front(), words[i]});
    } else if (kind.empty()) {
      things.push_back({"", words[i]});
    } else if (is_kind(kind)) {
      things.push_back({kind, words[i].substr(slash + 1)});
    } else {
      return invalid_argument("'{}': what is described is a job/, a node/ or an incident/",
                              words[i]);
    }
  }
  return things;
}

Result<int64_t> incident_id(const std::string& text) {
  const std::optional<int64_t> id = whole_number(text);
  if (!id) return invalid_argument("'{}' is no number of an incident", text);
  return *id;
}

// A name without a kind is a job's first, since one has more of them, then a node's.
Result<Page> describe_any(Client& client, const std::string& name, const Terminal& terminal) {
  Result<Page> page = describe_job(client, name, terminal);
  if (page.is_ok() || page.status().code() != Code::not_found) return page;
  Result<Page> node = describe_node(client, name, terminal);
  if (node.is_ok() || node.status().code() != Code::not_found) return node;
  return not_found("there is no job and no node {}", name);
}

Result<Page> describe_one(Client& client, const Thing& thing, const Terminal& terminal) {
  if (thing.kind == "job") return describe_job(client, thing.name, terminal);
  if (thing.kind == "node") return describe_node(client, thing.name, terminal);
  if (thing.kind.empty()) return describe_any(client, thing.name, terminal);
  const Result<int64_t> id = incident_id(thing.name);
  RETURN_IF_ERROR(id.status());
  return describe_incident(client, id.value(), terminal);
}

// A job file, to be submitted again as it is.
int describe_spec(Session& session, const std::vector<Thing>& things) {
  if (things.size() != 1 || (things[0].kind != "" && things[0].kind != "job")) {
    return session.usage_error("describe --spec: of one job");
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<std::string> yaml = job_file_of(*client.value(), things[0].name);
  if (!yaml.is_ok()) return session.fail(yaml.status());
  print(yaml.value());
  return kOk;
}

int describe(Session& session, const DescribeOptions& options) {
  const Result<std::vector<Thing>> things = things_of(options.words);
  if (!things.is_ok()) return session.usage_error(things.status().message());
  if (options.only_spec) return describe_spec(session, things.value());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  int exit_code = kOk;
  std::vector<Json> items;
  bool first = true;
  for (const Thing& thing : things.value()) {
    const Result<Page> page = describe_one(*client.value(), thing, session.terminal);
    if (!page.is_ok()) {
      const int code = session.fail(page.status());
      if (exit_code == kOk) exit_code = code;
    } else if (is_json(options.output)) {
      items.push_back(*page.value().json);
    } else {
      print((first ? "" : "\n") + page.value().text);
      first = false;
    }
  }
  if (is_json(options.output) && things.value().size() > 1) {
    print(format_json_list(items, options.output));
  } else if (!items.empty()) {
    print(format_json(items.front(), options.output));
  }
  return exit_code;
}

}  // namespace

std::string page_part(const std::string& title, const Result<std::string>& text,
                      const Terminal& terminal) {
  const std::string body =
      text.is_ok() ? text.value()
                   : fmt::format("  not known: {}\n", printable(text.status().message()));
  return "\n" + paint(title, Colour::bold, terminal) + "\n" + body;
}

Result<std::vector<v1::Event>> last_events(Client& client, const std::string& job,
                                           const std::string& node) {
  v1::ListEventsRequest request;
  request.set_job(job);
  request.set_node(node);
  request.set_page_size(kEventsShown);
  const Result<v1::ListEventsReply> reply = client.list_events(request);
  RETURN_IF_ERROR(reply.status());
  return std::vector<v1::Event>(reply.value().events().rbegin(), reply.value().events().rend());
}

std::string events_text(const std::vector<v1::Event>& events, const Terminal& terminal) {
  Table table({{"TIME"}, {"ACTOR"}, {"KIND"}, {"TEXT", false, true}});
  for (const v1::Event& event : events) {
    table.add_row({local_time(event.at_us()), event.actor(), event.kind(), event.text()});
  }
  return table.is_empty() ? "  none\n" : table.render(terminal);
}

void add_describe(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("describe", "Show everything about jobs, nodes or incidents")
                       ->group("Jobs");
  const auto options = std::make_shared<DescribeOptions>();
  verb->add_option("THING", options->words, "a job or node by its name; incident/4")->required();
  verb->add_flag("--spec", options->only_spec, "only the job file, which can be submitted again");
  add_output_option(*verb, options->output);
  session.help[verb] = {
      .details =
          "Of a job: its spec, attempts and why each ended, ranks on nodes and how those "
          "are, what it waits for, checkpoints, progress, events. Of a node: its facts, "
          "checks, repair, jobs now and before, events. Of an incident: its story and its "
          "nodes. A name that is both is the job's: node/NAME is the node.",
      .examples = {{"hai describe train", "a job, by name or id"},
                   {"hai describe node/node-3", "a node; node-3 does as well"},
                   {"hai describe train --spec > again.yaml", "to change it and hai run it"},
                   {"hai describe incident 4", ""}}};
  verb->callback([&session, options] { session.exit_code = describe(session, *options); });
}

}  // namespace hai::cli
