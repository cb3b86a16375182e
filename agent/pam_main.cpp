// hai-pam: lets people in to a node by ssh only while a job of theirs runs there, and makes the
// login part of that job. Run by PAM's pam_exec (deploy/pam/sshd, docs/operations/ssh.md), which
// says in the environment what is asked and shows what is printed to the one who logs in.

#include <fmt/core.h>
#include <syslog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>

#include "agent/agent_config.h"
#include "agent/login/login_gate.h"
#include "agent/os/host_facts.h"

namespace hai {
namespace {

constexpr int kLetIn = 0;
constexpr int kRefused = 1;
constexpr int kUsage = 2;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// `why` is for the log only: what is wrong with the node is no business of its users.
int refuse(const std::string& sentence, const std::string& why) {
  fmt::print("hai: {}\n", sentence);
  ::syslog(LOG_NOTICE, "refused: %s", why.c_str());
  return kRefused;
}

int let_in(const std::string& name, const std::string& why) {
  ::syslog(LOG_INFO, "let in: %s: %s", name.c_str(), why.c_str());
  return kLetIn;
}

// Whose session it is: sshd's process for this connection, from which all of its others come.
Result<pid_t> session_process() {
  const pid_t parent = ::getppid();
  if (parent > 1) return parent;
  return failed_precondition("who asked is gone already");
}

int begin_session(const LoginUser& user, const std::string& node,
                  const std::vector<LiveRank>& ranks) {
  const Result<pid_t> process = session_process();
  if (!process.is_ok()) return refuse(process.status().message(), process.status().message());
  const Result<LiveRank> joined = join_rank(process.value(), node, ranks);
  if (!joined.is_ok()) {
    const bool is_of_the_user = joined.status().code() == Code::permission_denied;
    return refuse(is_of_the_user ? joined.status().message()
                                 : fmt::format("no login to {}: it could not be made part of your "
                                               "job; its administrator finds why in the log",
                                               node),
                  fmt::format("{}: {}", user.name, joined.status().message()));
  }
  const RankKey& key = joined.value().key;
  fmt::print("hai: this login is part of job {} (rank {}) on {} and ends with it\n", key.job.value,
             key.rank, node);
  return let_in(user.name,
                fmt::format("process {} is part of rank {}", process.value(), to_string(key)));
}

int judge(const std::string& phase, const std::string& name, const std::string& path) {
  Result<UserIdentity> identity = find_user(name, {.uid_min = 0});
  if (!identity.is_ok()) {
    return refuse("this node does not know your account",
                  "somebody whom the user database does not know");
  }
  const LoginUser user = {.name = name, .identity = std::move(identity).value()};
  // Whatever is wrong with the config, root can come and mend it.
  if (needs_no_job(user, {})) return let_in(name, "is root");
  const Result<AgentConfig> config = read_agent_config(path);
  if (!config.is_ok()) {
    return refuse("no login: the config of this node's agent cannot be read; only root comes in",
                  config.status().message());
  }
  if (needs_no_job(user, config.value().login)) return let_in(name, "is an administrator");
  const std::string node =
      config.value().name.empty() ? gather_host_facts().name : config.value().name;
  Result<std::vector<LiveRank>> live = find_live_ranks(config.value().data_dir);
  if (!live.is_ok()) {
    return refuse(
        fmt::format("no login to {}: which jobs run there could not be read in a way that "
                    "can be trusted; its administrator finds why in the log",
                    node),
        live.status().message());
  }
  const Result<std::vector<LiveRank>> ranks = ranks_to_join(user, node, std::move(live).value());
  if (!ranks.is_ok()) return refuse(ranks.status().message(), ranks.status().message());
  if (phase == "open_session") return begin_session(user, node, ranks.value());
  return let_in(name, "has a job here");
}

int fail(const std::string& text) {
  fmt::print(stderr, "hai-pam: {}\n", text);
  ::syslog(LOG_ERR, "%s", text.c_str());
  return kUsage;
}

int run(int argc, char** argv) {
  ::openlog("hai-pam", LOG_PID, LOG_AUTHPRIV);
  CLI::App app{
      "hai-pam: lets people in by ssh only while a job of theirs runs on this node; run by "
      "pam_exec "
      "for account and session (docs/operations/ssh.md)"};
  std::string path = "/etc/hai/agent.yaml";
  app.add_option("--config", path, "of this node's hai-agent")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) ::syslog(LOG_ERR, "%s", error.what());
    return app.exit(error) == 0 ? kLetIn : kUsage;
  }
  const std::string phase = environment("PAM_TYPE");
  if (phase == "close_session") return kLetIn;
  // As auth it would let in people who have shown no key and no password.
  if (phase != "account" && phase != "open_session") {
    return fail(
        "PAM_TYPE must be account, open_session or close_session: run it by pam_exec.so, for "
        "account and session");
  }
  const std::string name = environment("PAM_USER");
  if (name.empty()) return fail("PAM_USER says nobody");
  if (::geteuid() != 0) return fail("must be run as root, as sshd does");
  return judge(phase, name, path);
}

}  // namespace
}  // namespace hai

int main(int argc, char** argv) { return hai::run(argc, argv); }
