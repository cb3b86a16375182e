// Signing in at the site's identity provider with a browser, here or on another device, and out
// again. What a context keeps of it is the token of a session, which ends by itself.

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <thread>

#include "cli/client.h"
#include "cli/commands/cluster_address.h"
#include "cli/commands/commands.h"
#include "cli/context_config.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/munge_session.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/table.h"

namespace hai::cli {
namespace {

constexpr Duration kPollLimit = 20s;

// The cluster of --url, or the context in force.
Result<Context> cluster_of(const Session& session, const ClusterAddress& address) {
  if (!address.urls.empty()) return to_context(address);
  if (!address.ca.empty() || !address.name.empty()) {
    return invalid_argument("--ca and --name go with --url: the context has its own");
  }
  const Result<ContextConfig> config = load_contexts(context_config_path());
  RETURN_IF_ERROR(config.status());
  Result<Context> context = choose_context(config.value(), session.context);
  if (context.is_ok() && context.value().servers.empty()) {
    return failed_precondition("context {} has no server", context.value().name);
  }
  return context;
}

// Asks until the person has agreed, has refused, or the code has ended.
Result<v1::SignInReply> wait_for_agreement(Client& client, const v1::BeginSignInReply& begun) {
  const auto interval = std::chrono::seconds(std::max(begun.interval_seconds(), 1));
  v1::SignInRequest request;
  request.set_device_code(begun.device_code());
  client.hurry(kPollLimit);  // Unavailable is an answer here, and nothing to wait out.
  for (;;) {
    std::this_thread::sleep_for(interval);
    Result<v1::SignInReply> reply = client.sign_in(request);
    if (reply.is_ok() || reply.status().code() != Code::unavailable) return reply;
    if (to_micros(wall_now()) >= begun.expires_at_us())
      return deadline_exceeded("nobody agreed in time");
  }
}

Status keep(const Context& context) {
  return update_contexts(context_config_path(), [&](ContextConfig& config) {
    config.current = context.name;
    put_context(config, context);
  });
}

int login(Session& session, const ClusterAddress& address) {
  Result<Context> chosen = cluster_of(session, address);
  if (!chosen.is_ok()) return session.fail(chosen.status());
  Context context = std::move(chosen).value();
  const Result<TlsTexts> tls = tls_of(context);
  if (!tls.is_ok()) return session.fail(tls.status());
  Client client(context.servers, "", tls.value());
  client.set_notice([](const std::string& line) { say(line); });
  v1::BeginSignInRequest request;
  request.set_device(true);
  const Result<v1::BeginSignInReply> begun = client.begin_sign_in(request);
  if (!begun.is_ok()) return session.fail(begun.status());
  say(fmt::format("open {} in a browser, on any device", begun.value().verification_uri()));
  say(fmt::format("agree only if it shows the code {}", begun.value().user_code()));
  const Result<v1::SignInReply> reply = wait_for_agreement(client, begun.value());
  if (!reply.is_ok()) return session.fail(reply.status());
  context.token = reply.value().secret();
  if (context.name.empty()) {
    Client known(context.servers, context.token, tls.value());
    const Result<v1::WhoAmIReply> who = known.who_am_i({});
    if (!who.is_ok()) return session.fail(who.status());
    context.name = who.value().cluster().empty() ? "default" : who.value().cluster();
  }
  const Status status = keep(context);
  if (!status.is_ok()) return session.fail(status);
  print(fmt::format("you are {} ({}) on {} until {}\n", printable(reply.value().user()),
                    printable(reply.value().role()), context.name,
                    local_time(reply.value().expires_at_us())));
  return kOk;
}

int logout(Session& session) {
  const Result<ContextConfig> config = load_contexts(context_config_path());
  if (!config.is_ok()) return session.fail(config.status());
  Result<Context> chosen = choose_context(config.value(), session.context);
  if (!chosen.is_ok()) return session.fail(chosen.status());
  Context context = std::move(chosen).value();
  if (context.token.empty() && context.munge.empty()) {
    say(fmt::format("you are not signed in on {}", context.name));
    return kOk;
  }
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return session.fail(client.status());
  const Result<v1::SignOutReply> reply = client.value()->sign_out({});
  // One that has ended already is as good as ended.
  if (!reply.is_ok() && reply.status().code() != Code::unauthenticated) {
    return session.fail(reply.status());
  }
  forget_munge_session(context);
  context.token.clear();
  const Status status = update_contexts(
      context_config_path(), [&](ContextConfig& changed) { put_context(changed, context); });
  if (!status.is_ok()) return session.fail(status);
  print(fmt::format("signed out of {}\n", context.name));
  return kOk;
}

}  // namespace

void add_login(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("login", "Sign in with your browser, without a token")->group("You");
  const auto address = std::make_shared<ClusterAddress>();
  add_address_options(*verb, *address, false);
  session.help[verb] = {
      .details =
          "Shows an address and a code. Open the address in a browser, on this machine or on "
          "any other, sign in there and agree. The session that you get ends by itself.",
      .examples = {{"hai login", "again, at the cluster of the current context"},
                   {"hai login --url https://gpu.example.org:7777", "the first time"},
                   {"hai logout", "before you leave a machine of others"}}};
  verb->callback([&session, address] { session.exit_code = login(session, *address); });
}

void add_logout(CLI::App& app, Session& session) {
  CLI::App* verb =
      app.add_subcommand("logout", "End the session that you signed in to")->group("You");
  session.help[verb] = {.examples = {{"hai logout", "on this machine; others stay"}}};
  verb->callback([&session] { session.exit_code = logout(session); });
}

}  // namespace hai::cli
