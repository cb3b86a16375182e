#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/json_out.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"
#include "common/hostlist.h"

namespace hai::cli {
namespace {

Json to_json(const v1::Incident& incident) {
  Json nodes = Json::array();
  for (const std::string& node : incident.nodes()) nodes.push_back(node);
  return {{"id", incident.id()},
          {"kind", incident.kind()},
          {"subject", incident.subject()},
          {"summary", incident.summary()},
          {"opened_at", format_rfc3339(unix_micros(incident.opened_at_us()))},
          {"nodes", nodes}};
}

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
                   format_rfc3339(unix_micros(incident.opened_at_us())), incident.subject(),
                   incident.summary()});
  }
  print(table.render(session.terminal));
  return kOk;
}

}  // namespace

void add_incidents(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("incidents", "List what is wrong with the cluster now")->group("Cluster");
  const auto output = std::make_shared<OutputFormat>(OutputFormat::table);
  add_output_option(*verb, *output);
  verb->callback([&session, output] { session.exit_code = incidents(session, *output); });
}

}  // namespace hai::cli
