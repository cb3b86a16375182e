#include "tests/support/live_server.h"

#include <fmt/core.h>

#include <algorithm>
#include <future>

#include "agent/rpc/server_link.h"
#include "common/check.h"
#include "server/auth/token.h"

namespace hai {

void PretendedRanks::launch(const LaunchRank& order, MonoTime) {
  last_launch_ = order;
  loop_.post([this, key = order.key] { change(key, RankPhase::running, ExitCause::none, 0); });
}

void PretendedRanks::suspend(const SuspendRank& order) {
  loop_.post([this, key = order.key] { change(key, RankPhase::exited, ExitCause::go_suspend, 0); });
}

void PretendedRanks::kill(const RankKey& key) {
  if (hung_.contains(key.job)) return;
  loop_.post([this, key] { change(key, RankPhase::exited, ExitCause::killed, 137); });
}

void PretendedRanks::finish(JobId job, int exit_code) {
  std::vector<RankKey> keys;
  for (const auto& [key, status] : ranks_) {
    if (key.job == job) keys.push_back(key);
  }
  for (const RankKey& key : keys) change(key, RankPhase::exited, ExitCause::program, exit_code);
}

void PretendedRanks::say(JobId job, const std::function<void(RankStatus&)>& words) {
  for (auto& [key, status] : ranks_) {
    if (key.job != job || status.phase == RankPhase::exited) continue;
    words(status);
    if (listener_) listener_(status);
  }
}

void PretendedRanks::hang(JobId job) {
  hung_.insert(job);
  say(job, [since = loop_.wall_now() - 1h](RankStatus& status) {
    status.signs = {{HangSignKind::silent_log, since}, {HangSignKind::gpu_idle, since}};
  });
}

void PretendedRanks::change(const RankKey& key, RankPhase phase, ExitCause cause, int exit_code) {
  RankStatus& status = ranks_[key];
  if (status.phase == RankPhase::exited) return;
  status.key = key;
  status.phase = phase;
  status.cause = cause;
  status.exit_code = exit_code;
  (phase == RankPhase::exited ? status.ended_at : status.started_at) = loop_.wall_now();
  if (listener_) listener_(status);  // the agent may have gone before a rank that starts
}

LogChunk PretendedRanks::read(const LogRequest& request) {
  auto size = static_cast<int64_t>(log_.size());
  LogChunk chunk;
  chunk.offset = std::min(request.offset, size);
  if (request.tail_bytes > 0) chunk.offset = std::max<int64_t>(0, size - request.tail_bytes);
  chunk.data =
      log_.substr(static_cast<size_t>(chunk.offset), static_cast<size_t>(request.max_bytes));
  chunk.next_offset = chunk.offset + static_cast<int64_t>(chunk.data.size());
  auto rank = ranks_.find(request.key);
  const bool is_gone = rank == ranks_.end() || rank->second.phase == RankPhase::exited;
  chunk.end = is_gone && chunk.next_offset == size;
  return chunk;
}

LiveServer::LiveServer(const std::function<void(ServerConfig&, ServingSecrets&)>& change) {
  ServerConfig config{.cluster = "test",
                      .grpc_address = "127.0.0.1:0",
                      .http_address = "127.0.0.1:0",
                      .web_root = "none",
                      .admin_user = kAdmin,
                      .default_quota_nodes = Quota::kUnlimited};
  config.knobs.heartbeat = 200ms;
  ServingSecrets secrets{.agent_token = kAgentToken, .admin_token_hash = hash_token(kAdminToken)};
  if (change) change(config, secrets);
  config_ = config;
  serving_ = std::make_unique<Serving>(
      loop_, store_, nullptr, nullptr, config, std::move(secrets), &audit_, [] {
        return std::map<std::string, int64_t>{{"file", kNotExported}};
      });
  const Status listening = serving_->listen();
  CHECK(listening.is_ok());
  serving_->start();

  ranks_ = std::make_unique<PretendedRanks>(loop_);
  link_ = std::make_unique<GrpcServerLink>(
      loop_, *ranks_,
      ServerLinkOptions{
          .servers = {grpc_address()},
          .agent_token = kAgentToken,
          .node = "n1",
          .open_shell = [this](const std::string&, const TlsTexts&,
                               const ShellRequest& asked) { asked_shells_.push_back(asked); },
          .backoff_min = 10ms,
          .backoff_max = 50ms});
  NodeFacts facts{.name = "n1", .group = "training", .zone = "A", .leaf = "l1", .gpus = 8};
  facts.cpus = 64;
  facts.memory_bytes = int64_t{1} << 40;
  agent_ = std::make_unique<Agent>(loop_, Agent::Ports{*ranks_, *link_, peers_, record_}, facts);
  agent_->start();
  thread_ = std::thread([this] { loop_.run(); });
  const bool is_up = eventually([](Controller& controller) {
    const Node* node = controller.state().find_node("n1");
    return controller.is_leading() && node != nullptr && node->takes_jobs();
  });
  CHECK(is_up);
}

LiveServer::~LiveServer() {
  on_loop([this] { agent_.reset(), link_.reset(); });
  loop_.post([this] { serving_->stop([this] { loop_.stop(); }); });
  thread_.join();
}

std::string LiveServer::grpc_address() const {
  return fmt::format("127.0.0.1:{}", serving_->grpc_port());
}

void LiveServer::reload(const std::function<void(ServerConfig&)>& change) {
  change(config_);
  on_loop([this] { serving_->reload(config_); });
}

void LiveServer::on_loop(const std::function<void()>& action) {
  std::promise<void> done;
  loop_.post([&] {
    action();
    done.set_value();
  });
  done.get_future().wait();
}

bool LiveServer::eventually(const std::function<bool(Controller&)>& is_true) {
  std::promise<bool> done;
  const MonoTime deadline = loop_.now() + 10s;
  std::function<void()> look = [&] {
    if (is_true(serving_->controller())) return done.set_value(true);
    if (loop_.now() > deadline) return done.set_value(false);
    loop_.call_after(1ms, look);
  };
  loop_.post(look);
  return done.get_future().get();
}

}  // namespace hai
