#pragma once
// One agent core between a host and a link that only write down what they are asked.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/core/agent.h"
#include "sim/virtual_loop.h"
#include "tests/support/lone_agent.h"

namespace hai::test {

class FakeHost final : public RankHost {
 public:
  std::vector<RankStatus> adopt() override { return adopted; }
  void launch(const LaunchRank& order, MonoTime until) override {
    calls.push_back("launch " + to_string(order.key));
    lease_until = until;
  }
  void suspend(const SuspendRank& order) override {
    calls.push_back(
        fmt::format("suspend {} {}", to_string(order.key), format_duration(order.grace)));
  }
  void resume(const RankKey& key) override { calls.push_back("resume " + to_string(key)); }
  void kill(const RankKey& key) override { calls.push_back("kill " + to_string(key)); }
  void forget(const RankKey& key) override { calls.push_back("forget " + to_string(key)); }
  void extend_leases(MonoTime until) override { lease_until = until; }
  void set_listener(Listener given) override { listener = std::move(given); }

  std::vector<RankStatus> adopted;
  std::vector<std::string> calls;
  MonoTime lease_until{};
  Listener listener;
};

class FakeLink final : public ServerLink {
 public:
  void start(Listener given) override { listener = std::move(given); }
  void send(const AgentReport& report) override { reports.push_back(report); }
  Listener listener;
  std::vector<AgentReport> reports;
};

struct AgentWorld {
  Timeline timeline;
  VirtualLoop loop{timeline};
  FakeHost host;
  FakeLink link;
  MutePeers peers;
  MemoryRecord record;
  std::unique_ptr<Agent> agent;

  explicit AgentWorld(std::vector<RankStatus> adopted = {}, HealthPort* health = nullptr)
      : health_(health) {
    host.adopted = std::move(adopted);
    start();
  }
  // A new agent process on the same node.
  void start() {
    agent = std::make_unique<Agent>(loop, Agent::Ports{host, link, peers, record, health_},
                                    NodeFacts{.name = "node-1", .gpus = 8});
    agent->start();
  }
  // Connected, and granted a lease of 30 s from now, with 37 s to the fence.
  void lease() {
    link.listener.connected();
    order(GrantLease{link.reports.back().sequence, 30s, 5s, 37s});
    link.reports.clear();
  }
  void order(OrderBody body, int64_t epoch = 1) {
    link.listener.order({Epoch{epoch}, std::move(body)});
  }
  void run(Duration time) { timeline.run_until(timeline.now() + time); }
  const RankStatus& status(RankKey key) const { return agent->ranks().at(key); }

 private:
  HealthPort* health_;
};

inline const RankKey kRank{JobId{1}, 1, 0};
inline LaunchRank launch(RankKey key = kRank) { return {.key = key, .job_name = "j"}; }
inline RankStatus in_phase(RankKey key, RankPhase phase) { return {.key = key, .phase = phase}; }

}  // namespace hai::test
