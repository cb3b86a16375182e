// Identities of nodes: tokens with which machines join, and taking certificates back.

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "cli/context_config.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"
#include "common/tls/certificate.h"

namespace hai::cli {
namespace {

struct NodeOptions {
  std::string nodes;
  std::string ttl;
  int uses = 1;
  std::string label;
  std::string id;
  std::string name;
  std::string reason;
  OutputFormat output = OutputFormat::table;
};

// What the machine is told of whom to believe: the CA by which this side knows the server.
std::string trust_words(const Context& context, const TlsTexts& tls) {
  if (context.ca == Context::kSystem) return std::string("--ca ") + kSystemCa;
  std::string fingerprints;
  for (const CertificateFacts& facts : read_certificates(tls.ca)) {
    if (!facts.is_authority) continue;
    fingerprints += (fingerprints.empty() ? "sha256:" : ",sha256:") + facts.fingerprint;
  }
  return "--ca-fingerprint " + fingerprints;
}

// The whole command for the machine, with {} where the token goes.
Result<std::string> join_command(const Session& session) {
  const Result<ContextConfig> config = load_contexts(context_config_path());
  RETURN_IF_ERROR(config.status());
  const Result<Context> context = choose_context(config.value(), session.context);
  RETURN_IF_ERROR(context.status());
  const Result<TlsTexts> tls = tls_of(context.value());
  RETURN_IF_ERROR(tls.status());
  if (tls.value().ca.empty()) {
    return failed_precondition(
        "this context speaks plain text, and machines join over TLS only: hai init --ca FILE");
  }
  return fmt::format("hai-agent join {} --token {{}} {}", fmt::join(context.value().servers, ","),
                     trust_words(context.value(), tls.value()));
}

int create(Session& session, const NodeOptions& options) {
  v1::CreateJoinTokenRequest request;
  request.set_nodes(options.nodes);
  request.set_ttl(options.ttl);
  request.set_uses(options.uses);
  request.set_label(options.label);
  const Result<std::string> form = join_command(session);
  if (!form.is_ok()) return session.fail(form.status());
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::CreateJoinTokenReply> reply = client.value()->create_join_token(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  const std::string command = fmt::format(fmt::runtime(form.value()), reply.value().secret());
  if (is_json(options.output)) {
    Json json = to_json(reply.value().token());
    json["secret"] = reply.value().secret();
    json["command"] = command;
    print(format_json(json, options.output));
    return kOk;
  }
  print(command + "\n");
  const v1::JoinToken& token = reply.value().token();
  say(fmt::format("run it as root on each of {}, until {}; token {} is shown only now",
                  token.nodes(), local_time(token.expires_at_us()), token.id()));
  return kOk;
}

int list_tokens(Session& session, const NodeOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::ListJoinTokensReply> reply = client.value()->list_join_tokens({});
  if (!reply.is_ok()) return session.fail(reply.status());
  std::vector<Json> items;
  Table table({{"ID"},
               {"NODES", false, true},
               {"USES LEFT", true},
               {"UNTIL"},
               {"BY"},
               {"LABEL", false, true}});
  for (const v1::JoinToken& token : reply.value().tokens()) {
    items.push_back(to_json(token));
    table.add_row({token.id(), token.nodes(), std::to_string(token.uses_left()),
                   local_time(token.expires_at_us()), token.user(), token.label()});
  }
  print(is_json(options.output) ? format_json_list(items, options.output)
                                : table.render(session.terminal));
  return kOk;
}

int revoke_token(Session& session, const NodeOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::RevokeJoinTokenRequest request;
  request.set_id(options.id);
  const Result<v1::RevokeJoinTokenReply> reply = client.value()->revoke_join_token(request);
  return reply.is_ok() ? kOk : session.fail(reply.status());
}

int revoke(Session& session, const NodeOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  v1::RevokeNodeIdentityRequest request;
  request.set_name(options.name);
  request.set_reason(options.reason);
  const Result<v1::NodeIdentity> reply = client.value()->revoke_node_identity(request);
  if (!reply.is_ok()) return session.fail(reply.status());
  say(fmt::format("no certificate of {} is believed that was issued until {}", options.name,
                  local_time(reply.value().revoked_at_us())));
  return kOk;
}

int list_identities(Session& session, const NodeOptions& options) {
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::ListNodeIdentitiesReply> reply = client.value()->list_node_identities({});
  if (!reply.is_ok()) return session.fail(reply.status());
  std::vector<Json> items;
  Table table({{"NODE"}, {"ISSUED"}, {"UNTIL"}, {"REVOKED"}, {"JOINED WITH"}, {"SERIAL"}});
  for (const v1::NodeIdentity& each : reply.value().identities()) {
    items.push_back(to_json(each));
    const bool is_issued = !each.serial().empty();
    table.add_row({each.node(), is_issued ? local_time(each.issued_at_us()) : "-",
                   is_issued ? local_time(each.expires_at_us()) : "-",
                   each.has_revoked_at_us() ? local_time(each.revoked_at_us()) : "-",
                   each.joined_with().empty() ? "-" : each.joined_with(),
                   is_issued ? each.serial() : "-"});
  }
  print(is_json(options.output) ? format_json_list(items, options.output)
                                : table.render(session.terminal));
  return kOk;
}

void add_token_verbs(CLI::App& node, Session& session,
                     const std::shared_ptr<NodeOptions>& options) {
  CLI::App* token = node.add_subcommand("token", "Create, show and revoke tokens for joining");
  token->require_subcommand(1);
  CLI::App* create_verb =
      token->add_subcommand("create", "Create a token and print the command that joins with it");
  create_verb->add_option("NODES", options->nodes, "names that may join: node-[1-1250]")
      ->required();
  create_verb->add_option("--ttl", options->ttl, "how long it holds, at most 30d; 1h by default")
      ->type_name("DURATION");
  create_verb
      ->add_option("--uses", options->uses, "how many machines may join with it; 1 by default")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000));
  create_verb->add_option("--label", options->label, "what it is for");
  add_output_option(*create_verb, options->output);
  create_verb->callback([&session, options] { session.exit_code = create(session, *options); });
  CLI::App* list_verb = token->add_subcommand("list", "Show tokens, without their secrets");
  add_output_option(*list_verb, options->output);
  list_verb->callback([&session, options] { session.exit_code = list_tokens(session, *options); });
  CLI::App* revoke_verb = token->add_subcommand("revoke", "No machine joins with it any more");
  revoke_verb->add_option("ID", options->id, "as hai node token list shows it")->required();
  revoke_verb->callback(
      [&session, options] { session.exit_code = revoke_token(session, *options); });
}

}  // namespace

void add_node_revoke(CLI::App& app, Session& session) {
  const auto options = std::make_shared<NodeOptions>();
  CLI::App* verb =
      app.add_subcommand("revoke", "Believe no certificate any more that the node has");
  verb->add_option("NODE", options->name, "the node's name")->required();
  verb->add_option("--reason", options->reason, "for the event log");
  verb->callback([&session, options] { session.exit_code = revoke(session, *options); });
}

void add_node(CLI::App& app, Session& session) {
  CLI::App* node = app.add_subcommand("node",
                                      "Let machines join as nodes, set what they are for, remove "
                                      "them, and take their certificates back")
                       ->group("Administration");
  const auto options = std::make_shared<NodeOptions>();
  node->require_subcommand(1);
  session.help[node] = {
      .examples = {{"hai node token create 'node-[1-1250]' --ttl 1h --uses 1250",
                    "prints what to run on each of them"},
                   {"hai node token list", "who may still join"},
                   {"hai node revoke node-7 --reason 'stolen disk'",
                    "its agent is shut out within a second"},
                   {"hai node set node-[1-4] --group debug", "move them to another group"},
                   {"hai node remove node-7 --reason 'sold'",
                    "it is listed no more; its jobs stay in the history"},
                   {"hai node identities", "whose certificate holds until when"}}};
  add_token_verbs(*node, session, options);
  add_node_revoke(*node, session);
  add_node_control(
      *node, session,
      {.verb = "remove",
       .description = "Take nodes that are down out of the cluster, until they join again",
       .done = "is out of the cluster",
       .help = {.examples = {{"hai node remove node-7 --reason sold",
                              "it is listed no more; its jobs stay in the history"}}},
       .action = v1::NODE_ACTION_REMOVE});
  add_node_control(
      *node, session,
      {.verb = "set",
       .description =
           "Set the group, zone, leaf or labels of nodes, in place of what their agents say",
       .done = "is set",
       .help = {.examples = {{"hai node set node-[1-4] --group debug",
                              "other people's jobs run there, without a word to its agent"},
                             {"hai node set node-7 --labels fast-disk,ib --leaf leaf-3",
                              "jobs with --label fast-disk find it"},
                             {"hai node set node-7 --reset leaf,labels",
                              "as its agent's config says again"}}},
       .action = v1::NODE_ACTION_SET,
       .sets = true});
  CLI::App* identities_verb =
      node->add_subcommand("identities", "Show the certificates that nodes were given");
  add_output_option(*identities_verb, options->output);
  identities_verb->callback(
      [&session, options] { session.exit_code = list_identities(session, *options); });
}

}  // namespace hai::cli
