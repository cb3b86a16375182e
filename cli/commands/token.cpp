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
  std::string user;
  std::string label;
  std::string id;
  OutputFormat output = OutputFormat::table;
};

int create(Session& session, const Options& options) {
  v1::CreateTokenRequest request;
  request.set_user(options.user);
  request.set_label(options.label);
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::CreateTokenReply> reply = client.value()->create_token(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  if (is_json(options.output)) {
    Json json = to_json(reply.value().token());
    json["secret"] = reply.value().secret();
    print(format_json(json, options.output));
    return kOk;
  }
  print(reply.value().secret() + "\n");
  say(fmt::format("token {} of {}: it is shown only now", reply.value().token().id(),
                  reply.value().token().user()));
  return kOk;
}

int list(Session& session, const Options& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::ListTokensRequest request;
  request.set_user(options.user);
  const Result<v1::ListTokensReply> reply = client.value()->list_tokens(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  std::vector<Json> items;
  Table table({{"ID"}, {"USER"}, {"LABEL", false, true}, {"CREATED"}});
  for (const v1::Token& token : reply.value().tokens()) {
    items.push_back(to_json(token));
    table.add_row({token.id(), token.user(), token.label(), local_time(token.created_at_us())});
  }
  print(is_json(options.output) ? format_json_list(items, options.output)
                                : table.render(session.terminal));
  return kOk;
}

int revoke(Session& session, const Options& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::RevokeTokenRequest request;
  request.set_id(options.id);
  const Result<v1::RevokeTokenReply> reply = client.value()->revoke_token(request);
  return reply.is_ok() ? kOk : session.fail(reply.status());
}

}  // namespace

void add_token(CLI::App& app, Session& session) {
  CLI::App* token = app.add_subcommand("token", "Create, show and revoke tokens")->group("You");
  const auto options = std::make_shared<Options>();
  token->require_subcommand(1);
  session.help[token] = {
      .examples = {{"hai token create --label laptop", "prints the secret, this once"},
                   {"hai token list", "those you have"},
                   {"hai token revoke ID", "a lost one becomes useless"}}};
  CLI::App* create_verb = token->add_subcommand("create", "Create a token and print its secret");
  create_verb->add_option("--user", options->user, "for this user; you by default");
  create_verb->add_option("--label", options->label, "what it is for");
  add_output_option(*create_verb, options->output);
  create_verb->callback([&session, options] { session.exit_code = create(session, *options); });
  CLI::App* list_verb = token->add_subcommand("list", "Show tokens, without their secrets");
  list_verb->add_option("--user", options->user, "of this user; yours by default");
  add_output_option(*list_verb, options->output);
  list_verb->callback([&session, options] { session.exit_code = list(session, *options); });
  CLI::App* revoke_verb = token->add_subcommand("revoke", "Make a token useless");
  revoke_verb->add_option("ID", options->id, "as hai token list shows it")->required();
  revoke_verb->callback([&session, options] { session.exit_code = revoke(session, *options); });
}

}  // namespace hai::cli
