// hai-server rescue: makes somebody administrator with a new token, where nobody is any more. Leads
// for a moment to do it, so that it is decided and written as everything else; servers must have
// stopped.

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "common/asio_loop.h"
#include "server/auth/token.h"
#include "server/commands/command.h"
#include "server/control/engine/controller.h"
#include "server/store/pg_store.h"

namespace hai {
namespace {

// A server that was killed holds its lease for a moment longer.
constexpr Duration kLeaseWait = 15s;
constexpr Duration kBetweenTries = 200ms;
constexpr Duration kTokenLife = 24h * 7;

// The cluster's agents find nobody here.
class NoAgents final : public AgentPort {
 public:
  void send(ConnectionId, const AgentOrder&) override {}
  void close(ConnectionId, const std::string&) override {}
};

class Rescue {
 public:
  Rescue(const ServerConfig& config, std::string name)
      : store_(loop_, {.conninfo = config.conninfo}),
        controller_(loop_, store_, agents_, nullptr, config.knobs, Bootstrap{}, config.cluster),
        name_(std::move(name)) {}

  Status run() {
    controller_.start();
    try_until(loop_.now() + kLeaseWait);
    loop_.run();
    return outcome_;
  }
  const std::string& secret() const { return secret_; }

 private:
  void try_until(MonoTime end) {
    if (controller_.is_leading()) return make_administrator();
    if (loop_.now() < end) {
      loop_.call_after(kBetweenTries, [this, end] { try_until(end); });
      return;
    }
    finish(failed_precondition("{}: stop hai-server on all its machines first",
                               controller_.standing().reason));
  }

  void make_administrator() {
    User user{.name = name_};
    const User* known = controller_.state().find_user(name_);
    if (known != nullptr) user = *known;
    user.role = Role::admin;
    user.active = true;
    controller_.submit({.is_server = true}, SetUser{user}, [this](const auto& reply) {
      if (!reply.is_ok()) return finish(reply.status());
      make_token();
    });
  }

  void make_token() {
    const Token token{.hash = hash_token(secret_),
                      .user = name_,
                      .label = "rescue",
                      .expires_at = loop_.wall_now() + kTokenLife};
    controller_.submit({.is_server = true}, AddToken{token},
                       [this](const auto& reply) { finish(reply.status()); });
  }

  void finish(Status outcome) {
    outcome_ = std::move(outcome);
    controller_.stop([this] { loop_.stop(); });
  }

  AsioLoop loop_;
  NoAgents agents_;
  PgStore store_;
  Controller controller_;
  const std::string name_;
  const std::string secret_ = make_token_secret();
  Status outcome_;
};

int run(const std::string& name, const ServerConfig& config) {
  Rescue rescue(config, name);
  const Status status = rescue.run();
  if (!status.is_ok()) return report_failure(status);
  fmt::print("{}\n", rescue.secret());
  fmt::print(stderr, "{} is an administrator; the token holds for {}\n", name,
             format_duration(kTokenLife));
  return kExitOk;
}

}  // namespace

ServerCommand add_rescue_command(CLI::App& app) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "rescue",
      "make NAME an administrator and print a token of his, where no administrator can come in any "
      "more. Stop hai-server on all machines first; what runs on nodes runs on");
  command->add_option("NAME", *name, "who; is made if there is no such user")->required();
  return {command, [name](const ServerConfig& config) { return run(*name, config); }};
}

}  // namespace hai
