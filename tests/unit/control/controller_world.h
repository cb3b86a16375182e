#pragma once
// One or two controllers on one database in virtual time; agents are written by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "server/control/engine/controller.h"
#include "server/store/mem_store.h"
#include "sim/virtual_loop.h"
#include "tests/support/builders.h"

namespace hai::test {

struct SentToAgent {
  ConnectionId connection;
  AgentOrder order;
  MonoTime at{};
};

class FakeAgents final : public AgentPort {
 public:
  explicit FakeAgents(Timeline& timeline) : timeline_(timeline) {}
  void send(ConnectionId connection, const AgentOrder& order) override {
    sent.push_back({connection, order, timeline_.now()});
    if (on_send) on_send(order);
  }
  void close(ConnectionId connection, const std::string& reason) override {
    closed.emplace_back(connection.value, reason);
  }
  template <typename Body>
  std::vector<Body> of(ConnectionId connection) const {
    std::vector<Body> bodies;
    for (const SentToAgent& each : sent) {
      const Body* body = std::get_if<Body>(&each.order.body);
      if (each.connection == connection && body != nullptr) bodies.push_back(*body);
    }
    return bodies;
  }

  std::vector<SentToAgent> sent;
  std::vector<std::pair<int64_t, std::string>> closed;
  std::function<void(const AgentOrder&)> on_send;

 private:
  Timeline& timeline_;
};

struct Server {
  MachineClock clock;
  VirtualLoop loop;
  MemStore store;
  FakeAgents agents;
  Controller controller;
  Server(Timeline& timeline, MemDatabase& database, const std::string& name, const Knobs& knobs,
         const Bootstrap& bootstrap)
      : loop(timeline, &clock),
        store(loop, database, name),
        agents(timeline),
        controller(loop, store, agents, nullptr, knobs, bootstrap, "test") {}
};

// The virtual clock, and what callbacks have taken on top of it.
class SlowLoop final : public Loop {
 public:
  explicit SlowLoop(Timeline& timeline) : inner_(timeline) {}
  MonoTime now() const override { return inner_.now() + (taken += per_look); }
  UnixTime wall_now() const override { return inner_.wall_now() + taken; }
  void post(std::function<void()> callback) override { inner_.post(std::move(callback)); }
  TimerId call_after(Duration delay, std::function<void()> callback) override {
    return inner_.call_after(delay, std::move(callback));
  }
  void cancel(TimerId timer) override { inner_.cancel(timer); }

  mutable Duration taken{0};
  Duration per_look{0};  // which each question for the time takes

 private:
  VirtualLoop inner_;
};

class ControllerWorld {
 public:
  Timeline timeline;
  VirtualLoop database_loop{timeline};
  MemDatabase database{database_loop};
  Knobs knobs;
  Bootstrap bootstrap{.admin_user = "ann", .public_quota_nodes = Quota::kUnlimited};

  ControllerWorld() {
    database.hooks.latency = [this] { return latency; };
    database.hooks.fault = [this] { return std::exchange(fault, MemFault::ok); };
  }

  Duration latency{0};
  MemFault fault = MemFault::ok;  // of the next request

  std::unique_ptr<Server> server(const std::string& name) {
    return std::make_unique<Server>(timeline, database, name, knobs, bootstrap);
  }
  // Started and leading.
  std::unique_ptr<Server> leader(const std::string& name = "a") {
    auto made = server(name);
    made->controller.start();
    run(1s);
    CHECK(made->controller.is_leading());
    return made;
  }
  void run(Duration time) { timeline.run_until(timeline.now() + time); }

  // An agent that has registered; its first report has this sequence.
  void connect(Server& server, int64_t connection, const std::string& node, int64_t sequence = 1) {
    server.controller.agent_connected(ConnectionId{connection}, node);
    AgentReport report{.node = node, .sequence = sequence};
    report.facts =
        NodeFacts{.name = node, .group = "training", .zone = "A", .leaf = "l", .gpus = 8};
    server.controller.agent_report(ConnectionId{connection}, report);
    run(50ms);
  }
  void report(Server& server, int64_t connection, int64_t sequence,
              std::vector<RankStatus> ranks = {}) {
    server.controller.agent_report(ConnectionId{connection},
                                   {.sequence = sequence, .ranks = std::move(ranks)});
    run(50ms);
  }
};

// The answer to a command, when there is one.
struct Answer {
  std::optional<Result<CommandReply>> reply;
  bool is_ok() const { return reply && reply->is_ok(); }
  Code code() const { return reply ? reply->status().code() : Code::unknown; }
};

inline std::shared_ptr<Answer> submit(Server& server, const JobBuilder& builder) {
  auto answer = std::make_shared<Answer>();
  server.controller.submit({.trusted_user = "ann"}, SubmitJob{builder.spec(), builder.request_id()},
                           [answer](Result<CommandReply> reply) { answer->reply = reply; });
  return answer;
}

inline std::shared_ptr<Answer> send(Server& server, const Command& command) {
  auto answer = std::make_shared<Answer>();
  server.controller.submit({.trusted_user = "ann"}, command,
                           [answer](Result<CommandReply> reply) { answer->reply = reply; });
  return answer;
}

}  // namespace hai::test
