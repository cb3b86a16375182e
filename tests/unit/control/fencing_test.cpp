// A silent node is given up only when its peers prove that it can't have kept its ranks.

#include "server/control/nodes/fencing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/control/engine/decide_tick.h"
#include "server/control/nodes/decide_peers.h"
#include "server/control/nodes/decide_report.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

// Seven nodes, with node-1's list confirmed: node-2 to node-6.
struct Fenced {
  Cluster c = cluster(nodes(7, gpus(8)));
  Sessions sessions;
  MonoTime mono{1000s};
  std::map<std::string, int64_t> sequence;

  Fenced() {
    sessions.set_term_start(mono);
    for (int i = 1; i <= 7; ++i) connect("node-" + std::to_string(i));
    c.emit(NodePeersNamed{c.node_id("node-1"), 1, ids({2, 3, 4, 5, 6})});
    c.emit(NodePeersConfirmed{c.node_id("node-1")});
  }
  std::vector<NodeId> ids(const std::vector<int>& numbers) const {
    std::vector<NodeId> out;
    for (int number : numbers) out.push_back(c.node_id("node-" + std::to_string(number)));
    return out;
  }
  void connect(const std::string& name) {
    const NodeId id = c.node_id(name);
    const ConnectionId connection{id.value};
    sessions.open(connection, name);
    sessions.bind(*sessions.find(connection), id);
    sequence[name] = 0;
    report(name);
  }
  // One report whose grant arrives; it says that the one before had arrived.
  void report(const std::string& name) {
    Session& session = *sessions.find(c.node_id(name));
    const int64_t number = ++sequence[name];
    sessions.report_confirms(session, number, number - 1, c.knobs.agent_lease, mono);
    sessions.grant_leaves(session, number, mono);
  }
  // Time passes; those named report each heartbeat.
  void pass(Duration time, const std::vector<int>& alive) {
    const MonoTime end = mono + time;
    while (mono < end) {
      mono += c.knobs.heartbeat;
      c.advance(c.knobs.heartbeat);
      for (int number : alive) report("node-" + std::to_string(number));
    }
  }
  bool is_fenced() {
    return is_surely_fenced(c.state(), sessions, c.knobs, c.node_id("node-1"), mono);
  }
};

TEST(Fencing, TakesDownAfterOfSilenceWhileItsPeersLive) {
  Fenced t;
  t.pass(60s, {1, 2, 3, 4, 5, 6, 7});
  t.pass(t.c.knobs.down_after, {2, 3, 4, 5, 6, 7});
  EXPECT_FALSE(t.is_fenced());
  t.pass(5s, {2, 3, 4, 5, 6, 7});
  EXPECT_TRUE(t.is_fenced());
}

TEST(Fencing, NeedsAsManyWitnessesAsPreventAMajority) {
  Fenced t;
  t.pass(60s, {1, 2, 3, 4, 5, 6, 7});
  t.pass(2min, {2, 3, 7});
  EXPECT_FALSE(t.is_fenced()) << "three of five peers may say that nobody leads";
  Fenced u;
  u.pass(60s, {1, 2, 3, 4, 5, 6, 7});
  u.pass(2min, {2, 3, 4});
  EXPECT_TRUE(u.is_fenced());
}

TEST(Fencing, NeedsWitnessesForTheWholeTime) {
  Fenced t;
  t.pass(60s, {1, 2, 3, 4, 5, 6, 7});
  t.pass(5min, {7});
  t.pass(45s, {2, 3, 4, 5, 6, 7});
  EXPECT_FALSE(t.is_fenced()) << "a round just before they were back gave it down_after more";
  t.pass(10s, {2, 3, 4, 5, 6, 7});
  EXPECT_TRUE(t.is_fenced());
}

TEST(Fencing, ListsNotYetConfirmedCountToo) {
  Fenced t;
  t.pass(60s, {1, 2, 3, 4, 5, 6, 7});
  t.c.emit(NodePeersNamed{t.c.node_id("node-1"), 2, t.ids({4, 5, 6, 7})});
  t.pass(2min, {2, 3, 4});
  EXPECT_FALSE(t.is_fenced()) << "of the new list three may say that nobody leads";
  t.pass(2min, {2, 3, 4, 5});
  EXPECT_TRUE(t.is_fenced());
}

TEST(Fencing, TheOldListCountsUntilTheNewOneIsConfirmed) {
  Fenced t;
  t.pass(60s, {1, 2, 3, 4, 5, 6, 7});
  t.c.emit(NodePeersNamed{t.c.node_id("node-1"), 2, t.ids({6, 7})});
  t.pass(2min, {6, 7});
  EXPECT_FALSE(t.is_fenced()) << "of the old list four may say that nobody leads";
}

TEST(Fencing, AListIsConfirmedByItsOwnVersionOnly) {
  Fenced t;
  const NodeId id = t.c.node_id("node-1");
  t.c.emit(NodePeersNamed{id, 2, t.ids({3, 4, 5, 6, 7})});
  const auto report = [&](int64_t version) {
    t.c.decide_with([&](Decision& decision) {
      decide_report(decision, *t.sessions.find(id), {.node = "node-1", .peers_version = version});
    });
    return t.c.state().find(id)->peers;
  };
  EXPECT_TRUE(report(1).named) << "it goes by the old one still";
  EXPECT_FALSE(report(2).named);
  EXPECT_EQ(t.c.state().find(id)->peers.confirmed, t.ids({3, 4, 5, 6, 7}));
}

TEST(Fencing, WithoutPeersANodeCannotHoldOn) {
  Fenced t;
  const NodeId other = t.c.node_id("node-7");
  t.pass(60s, {});
  EXPECT_TRUE(is_surely_fenced(t.c.state(), t.sessions, t.c.knobs, other, t.mono));
}

TEST(Fencing, SentGrantsProveNothingWithoutTheNodesWord) {
  Fenced t;
  t.pass(60s, {1, 2, 3, 4, 5, 6, 7});
  // Reports arrive and grants leave, but no report says that one has arrived.
  for (int i = 0; i < 30; ++i) {
    t.mono += 5s;
    for (int number : {2, 3, 4, 5, 6}) {
      const std::string name = "node-" + std::to_string(number);
      Session& session = *t.sessions.find(t.c.node_id(name));
      t.sessions.report_confirms(session, ++t.sequence[name], 0, t.c.knobs.agent_lease, t.mono);
      t.sessions.grant_leaves(session, t.sequence[name], t.mono);
    }
  }
  EXPECT_FALSE(t.is_fenced());
}

TEST(Fencing, ANewLeaderProvesAnew) {
  Fenced t;
  t.pass(5min, {2, 3, 4, 5, 6, 7});
  EXPECT_TRUE(t.is_fenced());
  t.sessions.set_term_start(t.mono);
  EXPECT_FALSE(t.is_fenced());
}

TEST(Fencing, ProofsLastForALeaseFromTheReportTheyAreAbout) {
  Fenced t;
  t.pass(60s, {2});
  const ProvenLease lease = t.sessions.proven_lease(t.c.node_id("node-2"));
  EXPECT_LE(lease.since, MonoTime(1015s));
  // The last report confirms the one before, which was sent after the grant of the one before that.
  EXPECT_EQ(lease.until, t.mono - 2 * t.c.knobs.heartbeat + t.c.knobs.agent_lease);
}

TEST(Silence, WithoutProofMakesSuspectAndKeepsTheJob) {
  Fenced t;
  const JobId job_id = t.c.run(job("j"), {"node-1"});
  t.pass(60s, {1, 2, 3, 4, 5, 6, 7});
  t.pass(10min, {6, 7});
  t.c.decide_with([&](Decision& decision) { decide_tick(decision, t.sessions, t.mono); });
  EXPECT_EQ(t.c.node("node-1").liveness, Liveness::suspect);
  EXPECT_TRUE(t.c.attempt(job_id).is_live());
  EXPECT_EQ(t.c.node("node-2").liveness, Liveness::down) << "nothing runs there";
}

TEST(Silence, OfAPausedServerIsItsOwn) {
  Fenced t;
  t.pass(60s, {1, 2, 3, 4, 5, 6, 7});
  t.mono += 5min;
  t.sessions.was_deaf_until(t.mono);
  t.c.decide_with([&](Decision& decision) { decide_tick(decision, t.sessions, t.mono); });
  for (int i = 1; i <= 7; ++i) {
    EXPECT_EQ(t.c.node("node-" + std::to_string(i)).liveness, Liveness::up);
  }
}

TEST(Fence, OfAnOperatorGivesTheJobsUp) {
  Fenced t;
  const JobId job_id = t.c.run(job("j"), {"node-1"});
  EXPECT_EQ(t.c.decide(FenceNode{"node-1", "on fire"}).status().code(), Code::failed_precondition);
  t.c.set_liveness("node-1", Liveness::suspect);
  t.c.add_user("bob");
  EXPECT_EQ(t.c.decide(FenceNode{"node-1", ""}, "bob").status().code(), Code::permission_denied);
  EXPECT_EQ(t.c.decide(FenceNode{"node-9", ""}).status().code(), Code::not_found);
  ASSERT_TRUE(t.c.decide(FenceNode{"node-1", "on fire"}).is_ok());
  EXPECT_EQ(t.c.node("node-1").liveness, Liveness::down);
  EXPECT_EQ(t.c.node("node-1").liveness_reason, "ann says that it is off: on fire");
  EXPECT_EQ(t.c.attempt(job_id).state, AttemptState::lost);
}

}  // namespace
}  // namespace hai::test
