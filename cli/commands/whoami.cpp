#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/commands/quota_view.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

int whoami(Session& session, OutputFormat output) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::WhoAmIReply> reply = client.value()->who_am_i({});
  if (!reply.is_ok()) return session.fail(reply.status());
  const v1::WhoAmIReply& who = reply.value();
  if (is_json(output)) {
    print(format_json(to_json(who), output));
    return kOk;
  }
  std::string text = fmt::format("{} ({})", printable(who.user()), who.role());
  if (!who.cluster().empty()) text += " on " + printable(who.cluster());
  if (who.groups_size() > 0) {
    text += ", groups " + join({who.groups().begin(), who.groups().end()}, ", ");
  }
  print(text + "\n");
  if (who.quotas_size() > 0) {
    print("\n" + quota_table({who.quotas().begin(), who.quotas().end()}, session.terminal));
  }
  return kOk;
}

}  // namespace

void add_whoami(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("whoami", "Show who you are and what you may use")->group("You");
  const auto output = std::make_shared<OutputFormat>(OutputFormat::table);
  add_output_option(*verb, *output);
  session.help[verb] = {.examples = {{"hai whoami", "your role, groups and quotas"}}};
  verb->callback([&session, output] { session.exit_code = whoami(session, *output); });
}

}  // namespace hai::cli
