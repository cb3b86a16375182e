#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/context_config.h"
#include "cli/exit_code.h"
#include "cli/munge_session.h"
#include "cli/output.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

struct Options {
  std::string token;
  std::vector<std::string> urls;
  std::string name;
  std::string ca;
  bool munge = false;
  std::string munge_socket;
  bool offline = false;
};

// The text, not the path: the file may go, the context stays.
Result<std::string> ca_of(const Options& options) {
  if (!options.ca.empty()) {
    Result<TlsTexts> texts = read_tls_files({.ca = options.ca});
    if (!texts.is_ok()) return texts.status();
    return std::move(texts).value().ca;
  }
  const bool is_tls = std::ranges::any_of(options.urls, wants_tls);
  return std::string(is_tls ? Context::kSystem : "");
}

int init(Session& session, const Options& options) {
  if (!options.name.empty()) {
    const Status status = check_context_name(options.name);
    if (!status.is_ok()) return session.usage_error("--name: " + std::string(status.message()));
  }
  if (options.token.empty() != options.munge) {
    return session.usage_error("either a TOKEN or --munge says who you are");
  }
  Context context{.name = options.name, .servers = {}, .token = options.token};
  if (options.munge) {
    context.munge = options.munge_socket.empty() ? Context::kSystem : options.munge_socket;
  }
  for (const std::string& url : options.urls) {
    const Result<std::string> address = parse_server_address(url);
    if (!address.is_ok()) return session.usage_error(address.status().message());
    context.servers.push_back(address.value());
  }
  const Result<std::string> ca = ca_of(options);
  if (!ca.is_ok()) return session.usage_error("--ca: " + std::string(ca.status().message()));
  context.ca = ca.value();
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
  const auto options = std::make_shared<Options>();
  verb->add_option("TOKEN", options->token, "as your administrator gave it to you");
  CLI::Option* munge =
      verb->add_flag("--munge", options->munge, "without a token, by this machine's munged");
  verb->add_option("--munge-socket", options->munge_socket, "of munged, if it is not the usual one")
      ->needs(munge);
  verb->add_option("--url", options->urls,
                   "grpc://HOST:PORT, or https://HOST:PORT with TLS; repeat it for standby servers")
      ->required()
      ->allow_extra_args(false);
  verb->add_option("--ca", options->ca,
                   "file with the cluster's CA (ca.crt): speak TLS and believe its servers by it; "
                   "https:// without it believes whom this machine does");
  verb->add_option("--name", options->name, "of the context; the cluster's name by default");
  verb->add_flag("--offline", options->offline, "do not try it out");
  session.help[verb] = {.examples = {{"hai init TOKEN --url grpc://gpu.example.org:7777",
                                      "join a cluster and make it the current one"},
                                     {"hai init TOKEN --url grpc://a:7777 --url grpc://b:7777",
                                      "two servers, one leads"},
                                     {"hai init --munge --url https://gpu.example.org:7777",
                                      "on a login node of a site that has munge"},
                                     {"hai context use other", "go to another cluster you know"}}};
  verb->callback([&session, options] { session.exit_code = init(session, *options); });
}

}  // namespace hai::cli
