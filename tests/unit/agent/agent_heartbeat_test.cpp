#include <gtest/gtest.h>

#include "agent/core/agent.h"
#include "sim/virtual_loop.h"
#include "tests/support/lone_agent.h"

namespace hai {
namespace {

struct CountingLink final : ServerLink {
  Listener listener;
  int reports = 0;
  void start(Listener given) override { listener = std::move(given); }
  void send(const AgentReport&) override { ++reports; }
};

TEST(AgentHeartbeat, FollowsTheServersIntervalAtOnce) {
  Timeline timeline;
  VirtualLoop loop(timeline);
  StillRanks host;
  CountingLink link;
  MutePeers peers;
  MemoryRecord record;
  Agent agent(loop, {host, link, peers, record}, NodeFacts{.name = "n1"});
  agent.start();
  link.listener.connected();
  EXPECT_EQ(link.reports, 1);
  link.listener.order({.epoch = Epoch{1}, .body = GrantLease{1, 30s, 1s}});
  // Before the five seconds have passed with which every agent begins.
  timeline.run_until(MonoTime(Duration(3500ms)));
  EXPECT_EQ(link.reports, 4);
  link.listener.order({.epoch = Epoch{1}, .body = GrantLease{4, 30s, 1s}});
  timeline.run_until(MonoTime(Duration(4500ms)));
  EXPECT_EQ(link.reports, 5) << "the same interval again must not start it anew";
}

}  // namespace
}  // namespace hai
