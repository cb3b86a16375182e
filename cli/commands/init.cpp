#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <memory>

#include "cli/client.h"
#include "cli/commands/cluster_address.h"
#include "cli/commands/commands.h"
#include "cli/context_config.h"
#include "cli/exit_code.h"
#include "cli/munge_session.h"
#include "cli/output.h"
#include "cli/secret_input.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

constexpr size_t kTokenBytesMax = 255;

struct InitOptions {
  std::string token;
  ClusterAddress address;
  bool munge = false;
  std::string munge_socket;
  bool offline = false;
};

// "-": from standard input.
Result<std::string> token_of(const InitOptions& options) {
  if (options.token != "-") return options.token;
  std::string token = read_secret_input("token (it is not shown): ", kTokenBytesMax);
  const bool is_word = !token.empty() && token.size() <= kTokenBytesMax &&
                       std::ranges::all_of(token, [](unsigned char c) { return std::isgraph(c); });
  if (is_word) return token;
  return invalid_argument(
      "standard input has no token: it must be one line of 1 to {} printable characters",
      kTokenBytesMax);
}

int init(Session& session, const InitOptions& options) {
  if (options.token.empty() != options.munge) {
    return session.usage_error("either a TOKEN or --munge says who you are");
  }
  Result<Context> made = to_context(options.address);
  if (!made.is_ok()) return session.usage_error(made.status().message());
  Context context = std::move(made).value();
  const Result<std::string> given = token_of(options);
  if (!given.is_ok()) return session.usage_error(given.status().message());
  context.token = given.value();
  if (options.munge) {
    context.munge = options.munge_socket.empty() ? Context::kSystem : options.munge_socket;
  }
  const Result<TlsTexts> tls = tls_of(context);
  if (!tls.is_ok()) return session.fail(tls.status());
  // A wrong token or address is best noticed now, and the cluster knows its own name.
  if (!options.offline) {
    Result<std::string> token = context.token;
    if (options.munge) token = munge_session(context, tls.value());
    if (!token.is_ok()) return session.fail(token.status());
    Client client(context.servers, token.value(), tls.value());
    const Result<v1::WhoAmIReply> who = client.who_am_i({});
    if (!who.is_ok()) return session.fail(who.status());
    if (options.munge && context.name.empty()) forget_munge_session(context);
    if (context.name.empty()) context.name = who.value().cluster();
    say(fmt::format("you are {} ({})", who.value().user(), who.value().role()));
  }
  if (context.name.empty()) context.name = "default";
  const std::string path = context_config_path();
  const Status status = update_contexts(path, [&](ContextConfig& config) {
    config.current = context.name;
    put_context(config, context);
  });
  if (!status.is_ok()) return session.fail(status);
  print(fmt::format("context {} is now the current one, saved in {}\n", context.name, path));
  return kOk;
}

}  // namespace

void add_init(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("init", "Join a cluster with a token")->group("You");
  const auto options = std::make_shared<InitOptions>();
  verb->add_option(
      "TOKEN", options->token,
      "as your administrator gave it to you; - reads it from standard input, where other users "
      "of this machine don't see it");
  CLI::Option* munge =
      verb->add_flag("--munge", options->munge, "without a token, by this machine's munged");
  verb->add_option("--munge-socket", options->munge_socket, "of munged, if it is not the usual one")
      ->needs(munge);
  add_address_options(*verb, options->address, true);
  verb->add_flag("--offline", options->offline, "do not try it out");
  session.help[verb] = {.examples = {{"hai init TOKEN --url grpc://gpu.example.org:7777",
                                      "join a cluster and make it the current one"},
                                     {"hai init - --url https://a:7700 --ca ca.crt < token",
                                      "the token from a file or a pipe"},
                                     {"hai init TOKEN --url grpc://a:7777 --url grpc://b:7777",
                                      "two servers, one leads"},
                                     {"hai init --munge --url https://gpu.example.org:7777",
                                      "on a login node of a site that has munge"},
                                     {"hai context use other", "go to another cluster you know"}}};
  verb->callback([&session, options] { session.exit_code = init(session, *options); });
}

}  // namespace hai::cli
