#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/commands/incident_view.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

int incidents(Session& session, OutputFormat output) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::ListIncidentsReply> reply = client.value()->list_incidents({});
  if (!reply.is_ok()) return session.fail(reply.status());
  if (is_json(output)) {
    std::vector<Json> items;
    for (const v1::Incident& incident : reply.value().incidents()) {
      items.push_back(to_json(incident));
    }
    print(format_json_list(items, output));
    return kOk;
  }
  if (reply.value().incidents().empty()) {
    print("no open incidents\n");
    return kOk;
  }
  Table table({{"ID", true}, {"KIND"}, {"OPENED"}, {"SUBJECT"}, {"SUMMARY", false, true}});
  for (const v1::Incident& incident : reply.value().incidents()) {
    table.add_row({std::to_string(incident.id()), incident.kind(),
                   local_time(incident.opened_at_us()), incident.subject(), incident.summary()});
  }
  print(table.render(session.terminal));
  return kOk;
}

// Its whole story.
int show(Session& session, int64_t id, OutputFormat output) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::ListIncidentsReply> reply = client.value()->list_incidents({});
  if (!reply.is_ok()) return session.fail(reply.status());
  for (const v1::Incident& incident : reply.value().incidents()) {
    if (incident.id() != id) continue;
    if (is_json(output)) {
      print(format_json(to_json(incident), output));
      return kOk;
    }
    print(incident_text(incident));
    return kOk;
  }
  return session.fail(not_found("incident {} is not open; `hai events` has those that ended", id));
}

int close(Session& session, int64_t id, const std::string& reason) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::CloseIncidentRequest request;
  request.set_id(id);
  request.set_reason(reason);
  const Result<v1::CloseIncidentReply> reply = client.value()->close_incident(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  print(fmt::format("incident {}: closed\n", id));
  return kOk;
}

struct IncidentsOptions {
  OutputFormat output = OutputFormat::table;
  int64_t id = 0;
  std::string reason;
};

}  // namespace

void add_incidents(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("incidents", "List what is wrong with the cluster now")->group("Cluster");
  const auto options = std::make_shared<IncidentsOptions>();
  add_output_option(*verb, options->output);
  CLI::App* one = verb->add_subcommand("show", "What was seen, decided and done about one");
  one->add_option("INCIDENT", options->id, "its number")->required();
  add_output_option(*one, options->output);
  CLI::App* end = verb->add_subcommand("close", "Close one that nobody else will");
  end->add_option("INCIDENT", options->id, "its number")->required();
  end->add_option("--reason", options->reason, "kept with it, for those who read its story");
  session.help[verb] = {
      .examples = {{"hai incidents", "what is wrong now"},
                   {"hai incidents show 4", "its story: what was seen, decided and done"},
                   {"hai incidents close 4 --reason \"switch replaced\"", ""}}};
  verb->callback([&session, options, one, end] {
    if (one->parsed()) {
      session.exit_code = show(session, options->id, options->output);
    } else if (end->parsed()) {
      session.exit_code = close(session, options->id, options->reason);
    } else {
      session.exit_code = incidents(session, options->output);
    }
  });
}

}  // namespace hai::cli
