// An agent keeps the proofs of what it was told, and gives them back in its reports.

#include <gtest/gtest.h>

#include "agent/core/agent.h"
#include "sim/virtual_loop.h"
#include "tests/support/lone_agent.h"

namespace hai {
namespace {

const RankKey kRank{JobId{7}, 3, 1};

struct LastReport final : ServerLink {
  Listener listener;
  AgentReport report;
  void start(Listener given) override { listener = std::move(given); }
  void send(const AgentReport& sent) override { report = sent; }
};

class AgentProofs : public ::testing::Test {
 protected:
  void start() {
    agent_.start();
    link_.listener.connected();
  }
  void order(LogPosition position, OrderBody body, const std::string& proof) {
    link_.listener.order(
        {.epoch = position.epoch, .body = std::move(body), .seq = position.seq, .proof = proof});
  }
  // As it stands in the next heartbeat's report.
  const AgentReport& next_report() {
    timeline_.run_until(timeline_.now() + 10s);
    return link_.report;
  }

  Timeline timeline_;
  VirtualLoop loop_{timeline_};
  StillRanks host_;
  LastReport link_;
  MutePeers peers_;
  MemoryRecord record_;
  Agent agent_{loop_, {host_, link_, peers_, record_}, NodeFacts{.name = "n1"}};
};

TEST_F(AgentProofs, OfTheNewestPositionAreKeptOverARestart) {
  start();
  order({Epoch{2}, 50}, GrantLease{1, 30s, 1s}, "newest");
  order({Epoch{2}, 40}, GrantLease{1, 30s, 1s}, "older");
  order({Epoch{1}, 99}, GrantLease{1, 30s, 1s}, "of an older leader");
  EXPECT_EQ(next_report().seen, (LogPosition{Epoch{2}, 50}));
  EXPECT_EQ(next_report().seen_proof, "newest");

  LastReport link;
  Agent next(loop_, {host_, link, peers_, record_}, NodeFacts{.name = "n1"});
  next.start();
  link.listener.connected();
  EXPECT_EQ(link.report.seen, (LogPosition{Epoch{2}, 50}));
  EXPECT_EQ(link.report.seen_proof, "newest");
}

TEST_F(AgentProofs, AreTakenFromWhoeverHasOneForTheSamePosition) {
  start();
  order({Epoch{2}, 50}, GrantLease{1, 30s, 1s}, "");
  order({Epoch{2}, 50}, GrantLease{1, 30s, 1s}, "proof");
  order({Epoch{2}, 50}, GrantLease{1, 30s, 1s}, "");
  EXPECT_EQ(next_report().seen_proof, "proof");
}

TEST_F(AgentProofs, OfALaunchStayWithItsRank) {
  start();
  order({Epoch{1}, 1}, GrantLease{1, 3600s, 1s}, "");
  order({Epoch{1}, 2}, LaunchRank{.key = kRank, .proof = "launch"}, "");
  host_.listener({.key = kRank, .phase = RankPhase::running});
  const std::vector<RankStatus> ranks = next_report().ranks;
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0].phase, RankPhase::running);
  EXPECT_EQ(ranks[0].proof, "launch");
  EXPECT_TRUE(ranks[0].was_ordered);
}

TEST_F(AgentProofs, OfAdoptedRanksAreThoseThatTheHostHasKept) {
  host_.adopted = {{.key = kRank, .phase = RankPhase::running, .proof = "kept"}};
  start();
  EXPECT_EQ(next_report().ranks.at(0).proof, "kept");
}

// The server kills what it does not know, too: to be told so proves no launch.
TEST_F(AgentProofs, AreNotOfWhatWasOnlyKilled) {
  start();
  order({Epoch{1}, 2}, KillRank{kRank}, "position");
  EXPECT_FALSE(next_report().ranks.at(0).was_ordered);
}

TEST_F(AgentProofs, AreOfALaunchThatWasRefusedHere) {
  start();
  order({Epoch{1}, 2}, LaunchRank{.key = kRank, .proof = "launch"}, "");
  const RankStatus rank = next_report().ranks.at(0);
  EXPECT_EQ(rank.cause, ExitCause::fenced) << "it has no lease";
  EXPECT_EQ(rank.proof, "launch");
  EXPECT_TRUE(rank.was_ordered);
}

}  // namespace
}  // namespace hai
