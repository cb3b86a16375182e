// An agent whose lease has ended asks its peers; only a majority that says the same lets its ranks
// live on.

#include "tests/unit/core/agent_world.h"

namespace hai::test {
namespace {

using enum LeaseAnswer;

struct Asking : AgentWorld {
  explicit Asking(int peers_named = 5) {
    lease();
    NamePeers named{.version = 1};
    for (int i = 0; i < peers_named; ++i) named.peers.push_back({"p" + std::to_string(i), "", 1});
    order(named);
    order(launch());
    host.listener(in_phase(kRank, RankPhase::running));
  }
  // As many rounds as fit, each answered like this by the first peers.
  void answer_for(Duration time, const std::vector<LeaseAnswer>& answers) {
    const MonoTime end = timeline.now() + time;
    while (timeline.now() < end) {
      const int round = peers.rounds;
      run(100ms);
      if (peers.rounds == round) continue;
      for (size_t i = 0; i < answers.size(); ++i) {
        peers.listener.answered(peers.last_round, peers.asked[i].node, answers[i]);
      }
    }
  }
};

TEST(Peers, AreAskedWhenTheLeaseHasEndedAndNotBefore) {
  Asking w;
  w.run(29s);
  EXPECT_EQ(w.peers.rounds, 0);
  w.run(1s);
  EXPECT_EQ(w.peers.rounds, 1);
  EXPECT_EQ(w.peers.asked.size(), 5u);
  w.run(3s);
  EXPECT_EQ(w.peers.rounds, 4);
}

TEST(Peers, AreNotAskedForANodeWithoutRanks) {
  Asking w;
  w.host.listener(in_phase(kRank, RankPhase::exited));
  w.run(1h);
  EXPECT_EQ(w.peers.rounds, 0);
}

TEST(Peers, AreLeftAloneOnceTheLeaseLivesAgain) {
  Asking w;
  w.run(31s);
  w.link.listener.connected();
  w.order(GrantLease{w.link.reports.back().sequence, 30s, 5s, 37s});
  const int before = w.peers.rounds;
  w.run(29s);
  EXPECT_EQ(w.peers.rounds, before);
}

TEST(Peers, WhoseMajorityIsDeadTooLetTheRanksLiveOnForHours) {
  Asking w;
  EXPECT_EQ(w.host.lease_until, MonoTime(37s));
  w.answer_for(5h, {dead, dead, dead});
  EXPECT_GT(w.host.lease_until, w.timeline.now() + 30s);
  EXPECT_LE(w.host.lease_until, w.timeline.now() + 37s);
  EXPECT_EQ(w.agent->lease_until(), MonoTime(30s)) << "nothing may be launched";
}

TEST(Peers, LetTheRanksLiveFromWhenTheyWereAskedNotFromTheirAnswers) {
  Asking w;
  w.run(30s);
  for (const char* node : {"p0", "p1", "p2"})
    w.peers.listener.answered(w.peers.last_round, node, dead);
  w.run(1s);
  EXPECT_EQ(w.host.lease_until, MonoTime(30s + 37s));
}

TEST(Peers, OneWithALiveLeaseEndsTheRanksAtTheFence) {
  Asking w;
  w.answer_for(40s, {dead, dead, dead, dead, alive});
  EXPECT_EQ(w.host.lease_until, MonoTime(37s));
}

TEST(Peers, NoMajorityEndsTheRanksAtTheFence) {
  Asking w;
  w.answer_for(40s, {dead, dead, unknown});
  EXPECT_EQ(w.host.lease_until, MonoTime(37s));
}

TEST(Peers, TwoMustAgreeOfTwo) {
  Asking w(2);
  w.answer_for(40s, {dead});
  EXPECT_EQ(w.host.lease_until, MonoTime(37s));
}

TEST(Peers, NodesWithoutPeersEndTheirRanks) {
  Asking w(0);
  w.run(1h);
  EXPECT_EQ(w.host.lease_until, MonoTime(37s));
}

TEST(Peers, AnswersOfAnEarlierRoundOrOfStrangersDoNotCount) {
  Asking w;
  w.run(30s);
  w.run(1s);
  for (const char* node : {"p0", "p1", "p2"})
    w.peers.listener.answered(w.peers.last_round - 1, node, dead);
  for (const char* node : {"x", "y", "z"})
    w.peers.listener.answered(w.peers.last_round, node, dead);
  w.run(5s);
  EXPECT_EQ(w.host.lease_until, MonoTime(37s));
}

TEST(Peers, ALateChangeOfMindToAliveCounts) {
  Asking w;
  w.run(30s);
  for (const char* node : {"p0", "p1", "p2"})
    w.peers.listener.answered(w.peers.last_round, node, dead);
  w.peers.listener.answered(w.peers.last_round, "p0", alive);
  w.peers.listener.answered(w.peers.last_round, "p0", dead);
  w.run(5s);
  EXPECT_EQ(w.host.lease_until, MonoTime(37s));
}

TEST(Peers, AreKnownToTheNextAgentProcess) {
  Asking w;
  w.run(20s);
  w.host.adopted = {in_phase(kRank, RankPhase::running)};
  w.agent.reset();
  w.start();
  EXPECT_EQ(w.peers.listener.asked(), alive) << "an earlier process was granted it";
  w.run(10s);
  EXPECT_EQ(w.peers.rounds, 1);
  EXPECT_EQ(w.peers.asked.size(), 5u);
  EXPECT_EQ(w.peers.listener.asked(), dead);
}

TEST(Peers, AListThatCannotBeKeptIsNotConfirmed) {
  Asking w;
  w.link.reports.clear();
  w.record.is_writable = false;
  w.order(NamePeers{.version = 2, .peers = {{"other", "", 1}}});
  w.run(6s);
  ASSERT_FALSE(w.link.reports.empty());
  EXPECT_EQ(w.link.reports.back().peers_version, 1);
  w.record.is_writable = true;
  w.order(NamePeers{.version = 2, .peers = {{"other", "", 1}}});
  w.run(1ms);
  EXPECT_EQ(w.link.reports.back().peers_version, 2);
  w.order(NamePeers{.version = 1, .peers = {{"p0", "", 1}}});
  w.run(6s);
  EXPECT_EQ(w.link.reports.back().peers_version, 2) << "a late order of before";
}

TEST(Answer, OfANodeThatNeverHadALeaseIsUnknown) {
  AgentWorld w;
  EXPECT_EQ(w.peers.listener.asked(), unknown);
  w.run(1h);
  EXPECT_EQ(w.peers.listener.asked(), unknown);
  w.lease();
  EXPECT_EQ(w.peers.listener.asked(), alive);
  w.run(30s - 1us);
  EXPECT_EQ(w.peers.listener.asked(), alive);
  w.run(1us);
  EXPECT_EQ(w.peers.listener.asked(), dead);
}

TEST(Grant, IsConfirmedOnlyWhenTheNextProcessWouldKnowIt) {
  AgentWorld w;
  w.link.listener.connected();
  const int64_t first = w.link.reports.back().sequence;
  w.record.is_writable = false;
  w.order(GrantLease{first, 30s, 5s, 37s});
  w.run(5s);
  EXPECT_EQ(w.link.reports.back().granted_sequence, 0);
  const int64_t second = w.link.reports.back().sequence;
  w.record.is_writable = true;
  w.order(GrantLease{second, 30s, 5s, 37s});
  w.run(5s);
  EXPECT_EQ(w.link.reports.back().granted_sequence, second);
  w.link.listener.connected();
  EXPECT_EQ(w.link.reports.back().granted_sequence, 0)
      << "the server of a new stream knows no grant";
}

}  // namespace
}  // namespace hai::test
