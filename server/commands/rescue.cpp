// hai-server rescue: makes somebody administrator with a new token, where nobody is any more. Leads
// for a moment to do it, so that it is decided and written as everything else; servers must have
// stopped. Each run leaves an entry in the audit log, also one that a leader refuses: there servers
// and this write in turns.

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <vector>

#include "common/asio_loop.h"
#include "common/text_check.h"
#include "server/api/audit_facts.h"
#include "server/auth/token.h"
#include "server/commands/command.h"
#include "server/control/engine/controller.h"
#include "server/setup/unix_user.h"
#include "server/store/audit_log.h"
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
        audit_(loop_, config.conninfo),
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
      done_ = "administrator; ";
      make_token();
    });
  }

  void make_token() {
    const Token token{.hash = hash_token(secret_),
                      .user = name_,
                      .label = "rescue",
                      .expires_at = loop_.wall_now() + kTokenLife};
    controller_.submit({.is_server = true}, AddToken{token},
                       [this, id = token_id(token.hash)](const auto& reply) {
                         if (reply.is_ok()) targets_.push_back(audit_target("token", id));
                         finish(reply.status());
                       });
  }

  // The token is shown only when the audit log has it.
  void finish(const Status& outcome) {
    audit_.append({entry_of(outcome)}, [this, outcome](const Status& written) {
      outcome_ = outcome;
      if (outcome.is_ok() && !written.is_ok()) {
        outcome_ = unavailable(
            "{} is an administrator, but the audit log did not take the entry, so that the token "
            "is not shown: run it again ({})",
            name_, written.message());
      }
      controller_.stop([this] { loop_.stop(); });
    });
  }

  AuditEntry entry_of(const Status& outcome) const {
    const Result<UnixUser> user = own_unix_user();
    const std::string why = outcome.is_ok() ? "" : outcome.message() + "; ";
    return {.at = loop_.wall_now(),
            .user = "",
            .token = "",
            .address = "local",
            .call = "rescue",
            .target = audit_targets(targets_),
            .result = std::string(to_string(outcome.code())),
            .detail = fmt::format("{}{}run by the Unix user {}", done_, why,
                                  user.is_ok() ? user.value().name : "without a name")};
  }

  AsioLoop loop_;
  NoAgents agents_;
  PgStore store_;
  PgAuditLog audit_;  // servers export what it writes
  Controller controller_;
  const std::string name_;
  const std::string secret_ = make_token_secret();
  std::vector<std::string> targets_ = {audit_target("user", printable(name_))};
  std::string done_;  // what is changed so far, for the audit log
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
