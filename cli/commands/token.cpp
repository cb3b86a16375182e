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

struct TokenOptions {
  std::string user;
  std::string label;
  std::string ttl;
  std::string scope;
  std::string id;
  OutputFormat output = OutputFormat::table;
};

int create(Session& session, const TokenOptions& options) {
  v1::CreateTokenRequest request;
  request.set_user(options.user);
  request.set_label(options.label);
  request.set_ttl(options.ttl);
  request.set_scope(options.scope);
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
  const v1::Token& token = reply.value().token();
  say(fmt::format("token {} of {}, for {}, until {}: it is shown only now", token.id(),
                  token.user(), token.scope(), local_time(token.expires_at_us())));
  return kOk;
}

int list(Session& session, const TokenOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::ListTokensRequest request;
  request.set_user(options.user);
  const Result<v1::ListTokensReply> reply = client.value()->list_tokens(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  std::vector<Json> items;
  Table table({{"ID"}, {"LABEL", false, true}, {"SCOPE"}, {"CREATED"}, {"ENDS"}, {"LAST USED"}});
  for (const v1::Token& token : reply.value().tokens()) {
    items.push_back(to_json(token));
    table.add_row({token.id(), token.label(), token.scope(), local_time(token.created_at_us()),
                   token.has_expires_at_us() ? local_time(token.expires_at_us()) : "never",
                   token.has_last_used_at_us() ? local_time(token.last_used_at_us()) : ""});
  }
  print(is_json(options.output) ? format_json_list(items, options.output)
                                : table.render(session.terminal));
  return kOk;
}

int revoke(Session& session, const TokenOptions& options) {
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
  const auto options = std::make_shared<TokenOptions>();
  token->require_subcommand(1);
  session.help[token] = {
      .examples = {{"hai token create --label laptop", "prints the secret, this once"},
                   {"hai token create --scope read --ttl 7d", "looks and changes nothing, a week"},
                   {"hai token list", "those you have, and your sessions"},
                   {"hai token revoke ID", "a lost one becomes useless"}}};
  CLI::App* create_verb = token->add_subcommand("create", "Create a token and print its secret");
  create_verb->add_option("--user", options->user, "for this user; you by default");
  create_verb->add_option("--label", options->label, "what it is for");
  create_verb->add_option(
      "--ttl", options->ttl,
      "how long it holds, such as 12h or 30d; 90d by default, or as the cluster "
      "says");
  create_verb
      ->add_option("--scope", options->scope, "the most it may do; as much as your role by default")
      ->check(CLI::IsMember({"read", "submit", "operate", "admin"}));
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
