#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/commands/quota_view.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

struct QuotaOptions {
  std::string owner;
  std::string group = "*";
  std::string priority = "*";
  std::string nodes;
  OutputFormat output = OutputFormat::table;
};

int show_quotas(Session& session, const std::vector<v1::Quota>& quotas, OutputFormat output) {
  std::vector<Json> items;
  for (const v1::Quota& quota : quotas) items.push_back(to_json(quota));
  print(is_json(output) ? format_json_list(items, output) : quota_table(quotas, session.terminal));
  return kOk;
}

int list(Session& session, const QuotaOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::ListQuotasRequest request;
  request.set_owner(options.owner);
  const Result<v1::ListQuotasReply> reply = client.value()->list_quotas(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  return show_quotas(session, {reply.value().quotas().begin(), reply.value().quotas().end()},
                     options.output);
}

int set(Session& session, const QuotaOptions& options) {
  const Result<int> nodes = parse_quota_nodes(options.nodes);
  if (!nodes.is_ok()) return session.usage_error(nodes.status().message());
  const Status status = check_quota_priority(options.priority);
  if (!status.is_ok()) return session.usage_error(status.message());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::SetQuotaRequest request;
  request.set_owner(options.owner);
  request.set_group(options.group);
  request.set_priority(options.priority);
  request.set_nodes(nodes.value());
  const Result<v1::Quota> reply = client.value()->set_quota(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  return show_quotas(session, {reply.value()}, options.output);
}

int remove(Session& session, const QuotaOptions& options) {
  const Status status = check_quota_priority(options.priority);
  if (!status.is_ok()) return session.usage_error(status.message());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::DeleteQuotaRequest request;
  request.set_owner(options.owner);
  request.set_group(options.group);
  request.set_priority(options.priority);
  const Result<v1::DeleteQuotaReply> reply = client.value()->delete_quota(request);
  return reply.is_ok() ? kOk : session.fail(reply.status());
}

CLI::App* add_row_verb(CLI::App& quota, const char* name, const char* text, QuotaOptions& options) {
  CLI::App* verb = quota.add_subcommand(name, text);
  verb->add_option("OWNER", options.owner, "a user, a user group, or public")->required();
  verb->add_option("-g,--group", options.group, "node group; * = every one");
  verb->add_option("-p,--priority", options.priority, "a priority; * = every one");
  return verb;
}

}  // namespace

void add_quota(CLI::App& app, Session& session) {
  CLI::App* quota = app.add_subcommand("quota", "Show and set how many nodes one may use")
                        ->group("Administration");
  const auto options = std::make_shared<QuotaOptions>();
  quota->require_subcommand(1);
  session.help[quota] = {
      .examples = {{"hai quota set ann 16 -g training -p high", "16 nodes at this priority"},
                   {"hai quota set public unlimited", "whoever has no row of his own"},
                   {"hai quota list ann", "the rows of one owner"},
                   {"hai quota remove ann -g training -p high", ""}}};
  CLI::App* list_verb = quota->add_subcommand("list", "Show quotas");
  list_verb->add_option("OWNER", options->owner, "only of this owner");
  add_output_option(*list_verb, options->output);
  list_verb->callback([&session, options] { session.exit_code = list(session, *options); });
  CLI::App* set_verb = add_row_verb(*quota, "set", "Set a quota", *options);
  set_verb->add_option("NODES", options->nodes, "number of nodes, or unlimited")->required();
  add_output_option(*set_verb, options->output);
  set_verb->callback([&session, options] { session.exit_code = set(session, *options); });
  CLI::App* remove_verb = add_row_verb(*quota, "remove", "Remove a quota", *options);
  remove_verb->callback([&session, options] { session.exit_code = remove(session, *options); });
}

}  // namespace hai::cli
