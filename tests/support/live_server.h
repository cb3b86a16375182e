#pragma once
// A whole server on loopback over a store in memory, with one agent whose ranks are pretended, for
// tests that speak gRPC or HTTP to it. Its loop runs on a thread of its own.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "agent/core/agent.h"
#include "agent/core/log_source.h"
#include "common/asio_loop.h"
#include "common/shell_messages.h"
#include "server/serving.h"
#include "server/store/mem_store.h"
#include "tests/support/kept_audit.h"
#include "tests/support/lone_agent.h"

namespace hai {

// Ranks that run until they are told otherwise.
class PretendedRanks final : public RankHost, public LogSource {
 public:
  explicit PretendedRanks(Loop& loop) : loop_(loop) {}
  std::vector<RankStatus> adopt() override { return {}; }
  void launch(const LaunchRank& order, MonoTime lease_until) override;
  void suspend(const SuspendRank& order) override;
  void resume(const RankKey&) override {}
  void kill(const RankKey& key) override;
  void forget(const RankKey& key) override { ranks_.erase(key); }
  void extend_leases(MonoTime) override {}
  void set_listener(Listener listener) override { listener_ = std::move(listener); }
  LogChunk read(const LogRequest& request) override;

  // The program of each rank of the job ends by itself.
  void finish(JobId job, int exit_code);
  // What the shims of its ranks report besides.
  void say(JobId job, const std::function<void(RankStatus&)>& words);
  // They show signs of a hang, and no kill ends them.
  void hang(JobId job);
  void write_log(const std::string& text) { log_ += text; }  // of every rank
  const LaunchRank& last_launch() const { return last_launch_; }

 private:
  void change(const RankKey& key, RankPhase phase, ExitCause cause, int exit_code);

  Loop& loop_;
  Listener listener_;
  std::map<RankKey, RankStatus> ranks_;
  std::set<JobId> hung_;
  LaunchRank last_launch_;
  std::string log_;
};

class LiveServer {
 public:
  static constexpr const char* kAdmin = "root";
  static constexpr const char* kAdminToken = "hai_admin_token_of_tests";
  static constexpr const char* kAgentToken = "hai_agent_token_of_tests";
  static constexpr int64_t kNotExported = 3;  // entries of the audit log, into a file

  // `change` what it is told before it starts.
  explicit LiveServer(const std::function<void(ServerConfig&, ServingSecrets&)>& change = {});
  ~LiveServer();
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  std::string grpc_address() const;
  int http_port() const { return serving_->http_port(); }
  const HttpRoutes& routes() { return serving_->routes(); }

  Controller& controller() { return serving_->controller(); }  // on the loop's thread
  int64_t calls_under_way() const { return serving_->calls_under_way(); }
  // As SIGHUP does, with a config that has been changed so.
  void reload(const std::function<void(ServerConfig&)>& change);
  // Runs on the loop's thread, and waits for it.
  void on_loop(const std::function<void()>& action);
  // Runs it there again and again until it is true; false after 10 s.
  bool eventually(const std::function<bool(Controller&)>& is_true);
  void finish_job(int64_t job, int exit_code) {
    on_loop([&] { ranks_->finish(JobId{job}, exit_code); });
  }
  // What the ranks of the job report from now on.
  void say(int64_t job, const std::function<void(RankStatus&)>& words) {
    on_loop([&] { ranks_->say(JobId{job}, words); });
  }
  // The job hangs, and its ranks cannot be killed: the incident about it stays open.
  void hang_job(int64_t job) {
    on_loop([&] { ranks_->hang(JobId{job}); });
  }
  LaunchRank last_launch() {
    LaunchRank launch;
    on_loop([&] { launch = ranks_->last_launch(); });
    return launch;
  }
  // What its agent was asked for by those who want into a rank, and has not answered.
  std::vector<ShellRequest> asked_shells() {
    std::vector<ShellRequest> asked;
    on_loop([&] { asked = asked_shells_; });
    return asked;
  }
  void write_log(const std::string& text) {
    on_loop([&] { ranks_->write_log(text); });
  }
  // What the audit log has so far.
  std::vector<AuditEntry> audited() const { return audit_.entries(); }

 private:
  AsioLoop loop_;
  MemDatabase database_{loop_};
  MemStore store_{loop_, database_, "test"};
  KeptAudit audit_{loop_};
  ServerConfig config_;
  std::unique_ptr<Serving> serving_;
  std::unique_ptr<PretendedRanks> ranks_;
  std::unique_ptr<ServerLink> link_;
  MutePeers peers_;
  MemoryRecord record_;
  std::unique_ptr<Agent> agent_;
  std::vector<ShellRequest> asked_shells_;
  std::thread thread_;
};

}  // namespace hai
