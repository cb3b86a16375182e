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
  std::string name;
  std::string role;
  std::string active;
  std::optional<std::string> groups;  // "a,b"; "" = none
  OutputFormat output = OutputFormat::table;
};

int show(Session& session, const std::vector<v1::User>& users, OutputFormat output) {
  std::vector<Json> items;
  Table table({{"NAME"}, {"ROLE"}, {"ACTIVE"}, {"GROUPS", false, true}});
  for (const v1::User& user : users) {
    items.push_back(to_json(user));
    table.add_row({user.name(), user.role(), user.active() ? "yes" : "no",
                   join({user.groups().begin(), user.groups().end()}, ",")});
  }
  print(is_json(output) ? format_json_list(items, output) : table.render(session.terminal));
  return kOk;
}

int list(Session& session, const Options& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::ListUsersReply> reply = client.value()->list_users({});
  if (!reply.is_ok()) return session.fail(reply.status());
  return show(session, {reply.value().users().begin(), reply.value().users().end()},
              options.output);
}

int set(Session& session, const Options& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::SetUserRequest request;
  request.set_name(options.name);
  if (!options.role.empty()) request.set_role(options.role);
  if (!options.active.empty()) request.set_active(options.active == "yes");
  if (options.groups) {
    request.set_set_groups(true);
    for (const std::string& group : CLI::detail::split(*options.groups, ',')) {
      if (!group.empty()) request.add_groups(group);
    }
  }
  const Result<v1::User> reply = client.value()->set_user(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  return show(session, {reply.value()}, options.output);
}

}  // namespace

void add_user(CLI::App& app, Session& session) {
  CLI::App* user =
      app.add_subcommand("user", "Show, add and change users")->group("Administration");
  const auto options = std::make_shared<Options>();
  user->require_subcommand(1);
  session.help[user] = {
      .examples = {
          {"hai user set ann --role user --groups vision,nlp", "add a user, or change one"},
          {"hai user set ann --active no", "what waits of hers starts no more"},
          {"hai user list", "everybody"}}};
  CLI::App* list_verb = user->add_subcommand("list", "Show users");
  add_output_option(*list_verb, options->output);
  list_verb->callback([&session, options] { session.exit_code = list(session, *options); });
  CLI::App* set_verb = user->add_subcommand("set", "Add a user or change one");
  set_verb->alias("add");
  set_verb->add_option("USER", options->name, "the user's name")->required();
  set_verb->add_option("--role", options->role, "what the user may do")
      ->check(CLI::IsMember({"user", "operator", "admin"}));
  set_verb->add_option("--active", options->active, "whether jobs of the user may start")
      ->check(CLI::IsMember({"yes", "no"}));
  set_verb->add_option("--groups", options->groups, "all groups of the user: a,b");
  add_output_option(*set_verb, options->output);
  set_verb->callback([&session, options] { session.exit_code = set(session, *options); });
}

}  // namespace hai::cli
