#include "tests/fuzz/portless_server.h"

#include "common/log.h"
#include "server/auth/token.h"
#include "server/model/invariants.h"
#include "tests/fuzz/fuzz_target.h"

namespace hai::fuzz {

namespace {

constexpr int64_t kInputsOfOne = 2'000;
constexpr const char* kNode = "n1";

ServerConfig config_of_fuzzers() {
  return {.cluster = "test",
          .grpc_address = "127.0.0.1:0",
          .http_address = "127.0.0.1:0",
          .web_root = "none",
          .admin_user = PortlessServer::kAdmin,
          .default_quota_nodes = Quota::kUnlimited};
}

}  // namespace

PortlessServer::PortlessServer()
    : serving_(std::make_unique<Serving>(
          loop_, store_, nullptr, nullptr, config_of_fuzzers(),
          ServingSecrets{.agent_token = "agents", .admin_token_hash = hash_token(kAdminToken)})) {
  set_log_level(LogLevel::error);
  serving_->start();
  set_up();
}

bool PortlessServer::run_until(const std::function<bool()>& is_true, Duration longest) {
  const MonoTime end = loop_.now() + longest;
  context().restart();
  while (!is_true()) {
    if (loop_.now() > end) return false;
    if (context().poll() == 0) context().run_one_for(std::chrono::microseconds(200));
    context().restart();
  }
  return true;
}

void PortlessServer::command(Command command) {
  bool is_done = false;
  serving_->controller().submit({.trusted_user = kAdmin}, std::move(command),
                                [&](const Result<CommandReply>& reply) {
                                  if (!reply.is_ok()) broken(std::string(reply.status().message()));
                                  is_done = true;
                                });
  if (!run_until([&] { return is_done; }, 10s)) broken("the server does not answer");
}

void PortlessServer::set_up() {
  Controller& controller = serving_->controller();
  if (!run_until([&] { return controller.is_leading(); }, 10s)) broken("nobody leads");
  command(SetUser{{.name = kUser}});
  command(AddToken{{.hash = hash_token(kUserToken), .user = kUser}});
  controller.agent_connected(ConnectionId{1}, kNode);
  AgentReport report{.node = kNode, .sequence = 1};
  report.facts = NodeFacts{.name = kNode, .group = "training", .zone = "A", .leaf = "l", .gpus = 8};
  controller.agent_report(ConnectionId{1}, report);
  JobSpec spec;
  spec.name = "job";
  spec.workspace = "/data";
  spec.entrypoint = "train.py";
  spec.group = "training";
  command(SubmitJob{spec, ""});
}

void PortlessServer::judge() {
  Controller& controller = serving_->controller();
  if (!controller.is_leading()) broken("the server leads no more");
  const std::vector<std::string> violated = violated_invariants(controller.state());
  if (!violated.empty()) broken(violated.front());
}

PortlessServer& PortlessServer::shared() {
  static std::unique_ptr<PortlessServer> one;
  static int64_t inputs = 0;
  if (inputs++ % kInputsOfOne == 0) {
    if (one) one->judge();
    one.reset();
    one = std::make_unique<PortlessServer>();
  }
  return *one;
}

}  // namespace hai::fuzz
