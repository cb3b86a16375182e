// What the agent says: everything, again and again, and not more often than it must.

#include "tests/unit/core/agent_world.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Reports, TheFirstOfAStreamSaysWhoItIsAndAllItHas) {
  AgentWorld w({in_phase(kRank, RankPhase::running)});
  for (int stream = 0; stream < 2; ++stream) {
    w.link.reports.clear();
    w.link.listener.connected();
    ASSERT_THAT(w.link.reports, SizeIs(1));
    EXPECT_EQ(w.link.reports[0].facts->name, "node-1");
    EXPECT_THAT(w.link.reports[0].ranks, ElementsAre(in_phase(kRank, RankPhase::running)));
    w.run(5s);
    ASSERT_THAT(w.link.reports, SizeIs(2));
    EXPECT_FALSE(w.link.reports[1].facts.has_value());
    EXPECT_GT(w.link.reports[1].sequence, w.link.reports[0].sequence);
    w.link.listener.disconnected();
  }
}

TEST(Reports, ChangesOfOneMomentShareOne) {
  AgentWorld w;
  w.lease();
  for (int job = 1; job <= 5; ++job) w.order(launch({JobId{job}, 1, 0}));
  for (int job = 1; job <= 5; ++job)
    w.host.listener(in_phase({JobId{job}, 1, 0}, RankPhase::running));
  w.run(2ms);
  ASSERT_THAT(w.link.reports, SizeIs(1));
  EXPECT_THAT(w.link.reports[0].ranks, SizeIs(5));
}

TEST(Reports, ALaunchWaitsAMomentForWhatComesOfIt) {
  AgentWorld w;
  w.lease();
  w.order(launch());
  w.run(2ms);
  EXPECT_THAT(w.link.reports, IsEmpty());
  w.host.listener(in_phase(kRank, RankPhase::running));
  w.run(1s);
  ASSERT_THAT(w.link.reports, SizeIs(1));
  EXPECT_EQ(w.link.reports[0].ranks[0].phase, RankPhase::running);
}

TEST(Reports, AProgramThatEndsAtOnceIsOneReport) {
  AgentWorld w;
  w.lease();
  w.order(launch());
  w.host.listener(in_phase(kRank, RankPhase::running));
  w.run(1ms);
  EXPECT_THAT(w.link.reports, IsEmpty());
  w.host.listener(in_phase(kRank, RankPhase::exited));
  w.run(1s);
  ASSERT_THAT(w.link.reports, SizeIs(1));
  EXPECT_EQ(w.link.reports[0].ranks[0].phase, RankPhase::exited);
}

TEST(Reports, ManyStartsOneAfterTheOtherPutNothingOff) {
  AgentWorld w;
  w.lease();
  for (int job = 1; job <= 10; ++job) {
    w.order(launch({JobId{job}, 1, 0}));
    w.host.listener(in_phase({JobId{job}, 1, 0}, RankPhase::running));
    w.run(1ms);
  }
  EXPECT_GE(w.link.reports.size(), 4u);
}

TEST(Reports, ALaunchThatTakesLongerIsReportedAllTheSame) {
  AgentWorld w;
  w.lease();
  w.order(launch());
  w.run(6ms);
  ASSERT_THAT(w.link.reports, SizeIs(1));
  EXPECT_EQ(w.link.reports[0].ranks[0].phase, RankPhase::starting);
}

TEST(Reports, NothingNewIsNotReportedBeforeTheHeartbeat) {
  AgentWorld w;
  w.lease();
  w.order(launch());
  w.run(10ms);
  ASSERT_THAT(w.link.reports, SizeIs(1));
  w.link.reports.clear();
  w.host.listener(w.status(kRank));
  w.host.listener(in_phase({JobId{77}, 1, 0}, RankPhase::running));  // not its own
  w.run(1s);
  EXPECT_THAT(w.link.reports, IsEmpty());
}

TEST(Reports, NewsRightAfterAnotherReportAskForNoLease) {
  AgentWorld w;
  w.lease();
  w.run(5s);
  ASSERT_THAT(w.link.reports, SizeIs(1));
  EXPECT_FALSE(w.link.reports[0].is_news_only) << "a heartbeat asks";
  w.order(launch());
  w.host.listener(in_phase(kRank, RankPhase::running));
  w.run(600ms);
  ASSERT_THAT(w.link.reports, SizeIs(2));
  EXPECT_TRUE(w.link.reports[1].is_news_only);
  w.run(100ms);
  w.host.listener(in_phase(kRank, RankPhase::exited));
  w.run(1ms);
  ASSERT_THAT(w.link.reports, SizeIs(3));
  EXPECT_FALSE(w.link.reports[2].is_news_only) << "an eighth of a heartbeat is over";
  w.run(5s);
  EXPECT_FALSE(w.link.reports.back().is_news_only);
}

TEST(Reports, AnExitedRankIsReportedUntilItIsForgotten) {
  AgentWorld w;
  w.lease();
  w.order(launch());
  w.host.listener(in_phase(kRank, RankPhase::exited));
  w.run(12s);
  ASSERT_FALSE(w.link.reports.empty());
  EXPECT_THAT(w.link.reports.back().ranks, SizeIs(1));
  w.order(ForgetRank{kRank});
  w.run(6s);
  EXPECT_THAT(w.link.reports.back().ranks, IsEmpty());
}

TEST(Reports, WithoutAStreamNothingIsSent) {
  AgentWorld w;
  w.run(30s);
  EXPECT_THAT(w.link.reports, IsEmpty());
  w.lease();
  w.link.listener.disconnected();
  w.host.listener(in_phase(kRank, RankPhase::running));
  w.run(30s);
  EXPECT_THAT(w.link.reports, IsEmpty());
}

TEST(Reports, ARefusalMakesItSayWhoItIsAgain) {
  AgentWorld w;
  w.lease();
  w.order(RefuseAgent{"no"});
  w.run(6s);
  ASSERT_FALSE(w.link.reports.empty());
  EXPECT_TRUE(w.link.reports[0].facts.has_value());
}

TEST(Agent, CanGoAtAnyTime) {
  AgentWorld w;
  w.lease();
  w.order(launch());
  auto late = w.host.listener;
  auto order = w.link.listener.order;
  w.agent.reset();
  late(in_phase(kRank, RankPhase::running));
  order({Epoch{1}, launch()});
  w.run(1min);
  EXPECT_THAT(w.link.reports, IsEmpty());
}

}  // namespace
}  // namespace hai::test
