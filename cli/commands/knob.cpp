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

struct KnobOptions {
  std::string name;
  std::string value;
  std::string reason;
  OutputFormat output = OutputFormat::table;
};

int show_knobs(Session& session, const std::vector<v1::Knob>& knobs, OutputFormat output) {
  std::vector<Json> items;
  Table table({{"NAME"}, {"VALUE"}, {"CONFIG"}, {"LEGAL"}, {"SET BY"}, {"WHY", false, true}});
  for (const v1::Knob& knob : knobs) {
    items.push_back(to_json(knob));
    const bool is_set = !knob.set_by().empty();
    table.add_row({knob.name(), knob.value(), knob.config_value(), knob.legal(),
                   is_set              ? knob.set_by()
                   : knob.may_change() ? "-"
                                       : "config only",
                   knob.reason()});
  }
  print(is_json(output) ? format_json_list(items, output) : table.render(session.terminal));
  return kOk;
}

int list(Session& session, const KnobOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::ListKnobsReply> reply = client.value()->list_knobs({});
  if (!reply.is_ok()) return session.fail(reply.status());
  return show_knobs(session, {reply.value().knobs().begin(), reply.value().knobs().end()},
                    options.output);
}

int set(Session& session, const KnobOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::SetKnobRequest request;
  request.set_name(options.name);
  request.set_value(options.value);
  request.set_reason(options.reason);
  const Result<v1::Knob> reply = client.value()->set_knob(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  return show_knobs(session, {reply.value()}, options.output);
}

int unset(Session& session, const KnobOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::UnsetKnobRequest request;
  request.set_name(options.name);
  request.set_reason(options.reason);
  const Result<v1::Knob> reply = client.value()->unset_knob(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  return show_knobs(session, {reply.value()}, options.output);
}

}  // namespace

void add_knob(CLI::App& app, Session& session) {
  CLI::App* knob =
      app.add_subcommand("knob", "Show and turn the scheduler's numbers")->group("Administration");
  const auto options = std::make_shared<KnobOptions>();
  knob->require_subcommand(1);
  session.help[knob] = {
      .details =
          "What is set here holds on all servers at once and after restarts, and goes "
          "before their configs. Leases are set in the configs only.",
      .examples = {{"hai knob list", "what holds, and what may be set"},
                   {"hai knob set min_quantum 10m --reason 'short jobs this week'", ""},
                   {"hai knob unset min_quantum", "as the config has it again"}}};
  CLI::App* list_verb = knob->add_subcommand("list", "Show all knobs");
  add_output_option(*list_verb, options->output);
  list_verb->callback([&session, options] { session.exit_code = list(session, *options); });
  CLI::App* set_verb = knob->add_subcommand("set", "Set one, from now on");
  set_verb->add_option("NAME", options->name, "as hai knob list shows it")->required();
  set_verb->add_option("VALUE", options->value, "30s, 2%, 10, or a word")->required();
  set_verb->add_option("--reason", options->reason, "for the event log");
  add_output_option(*set_verb, options->output);
  set_verb->callback([&session, options] { session.exit_code = set(session, *options); });
  CLI::App* unset_verb = knob->add_subcommand("unset", "As the config has it again");
  unset_verb->add_option("NAME", options->name, "as hai knob list shows it")->required();
  unset_verb->add_option("--reason", options->reason, "for the event log");
  add_output_option(*unset_verb, options->output);
  unset_verb->callback([&session, options] { session.exit_code = unset(session, *options); });
}

}  // namespace hai::cli
