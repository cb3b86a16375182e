// What the agent does with orders, in every order and as often as they come.

#include "tests/unit/core/agent_world.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Launch, HappensOnce) {
  AgentWorld w;
  w.lease();
  w.order(launch());
  w.order(launch());
  EXPECT_THAT(w.host.calls, ElementsAre("launch 1.1.0"));
  EXPECT_EQ(w.host.lease_until, MonoTime(37s));
}

TEST(Launch, OfARankThatEndedDoesNotStartItAgain) {
  AgentWorld w;
  w.lease();
  w.order(launch());
  w.host.listener(in_phase(kRank, RankPhase::exited));
  w.order(launch());
  EXPECT_THAT(w.host.calls, ElementsAre("launch 1.1.0"));
}

TEST(Launch, AfterTheLeaseHasEndedIsRefused) {
  AgentWorld w;
  w.lease();
  w.run(30s);
  w.order(launch());
  EXPECT_THAT(w.host.calls, IsEmpty());
  EXPECT_EQ(w.status(kRank).phase, RankPhase::exited);
  EXPECT_EQ(w.status(kRank).cause, ExitCause::fenced);
  w.order(launch());
  EXPECT_THAT(w.host.calls, IsEmpty());
}

TEST(Launch, WithoutAnyLeaseIsRefused) {
  AgentWorld w;
  w.link.listener.connected();
  w.order(launch());
  EXPECT_THAT(w.host.calls, IsEmpty());
  EXPECT_EQ(w.status(kRank).cause, ExitCause::fenced);
}

TEST(Launch, OfAnAttemptBeforeOneThatIsHereIsRefused) {
  AgentWorld w;
  w.lease();
  const RankKey later{kRank.job, 2, 1};
  w.order(launch(later));
  w.order(launch());
  EXPECT_THAT(w.host.calls, ElementsAre("launch 1.2.1"));
  EXPECT_EQ(w.status(kRank).cause, ExitCause::lost);
  EXPECT_EQ(w.status(kRank).message, "attempt 2 of this job is here");
}

TEST(Launch, BesideARunningRankOfAnEarlierAttemptIsRefused) {
  AgentWorld w;
  w.lease();
  w.order(launch());
  const RankKey next{kRank.job, 2, 0};
  const RankKey other_job{JobId{2}, 9, 0};
  w.order(launch(next));
  w.order(launch(other_job));
  EXPECT_THAT(w.host.calls, ElementsAre("launch 1.1.0", "launch 2.9.0"));
  EXPECT_EQ(w.status(next).cause, ExitCause::lost);
  w.host.listener(in_phase(kRank, RankPhase::exited));
  w.order(launch({kRank.job, 3, 0}));
  EXPECT_THAT(w.host.calls, ElementsAre("launch 1.1.0", "launch 2.9.0", "launch 1.3.0"));
}

TEST(Kill, OfAnUnknownRankKeepsALateLaunchFromRunning) {
  AgentWorld w;
  w.lease();
  w.order(KillRank{kRank});
  EXPECT_EQ(w.status(kRank).phase, RankPhase::exited);
  EXPECT_EQ(w.status(kRank).cause, ExitCause::killed);
  w.order(launch());
  EXPECT_THAT(w.host.calls, IsEmpty());
}

TEST(Kill, OfALiveRankIsTheHosts) {
  AgentWorld w;
  w.lease();
  w.order(launch());
  w.order(KillRank{kRank});
  w.host.listener(in_phase(kRank, RankPhase::exited));
  w.order(KillRank{kRank});
  EXPECT_THAT(w.host.calls, ElementsAre("launch 1.1.0", "kill 1.1.0"));
}

TEST(Forget, LeavesATombstoneAgainstLateOrders) {
  AgentWorld w;
  w.lease();
  w.order(launch());
  w.host.listener(in_phase(kRank, RankPhase::exited));
  w.order(ForgetRank{kRank});
  EXPECT_THAT(w.agent->ranks(), IsEmpty());
  w.order(launch());
  EXPECT_EQ(w.status(kRank).phase, RankPhase::exited) << "does not run again, and says so";
  EXPECT_EQ(w.status(kRank).cause, ExitCause::lost);
  w.order(ForgetRank{kRank});
  w.order(KillRank{kRank});
  EXPECT_EQ(w.status(kRank).cause, ExitCause::killed);
  EXPECT_THAT(w.host.calls, ElementsAre("launch 1.1.0", "forget 1.1.0", "forget 1.1.0"));
}

TEST(Forget, OfOneAttemptForgetsEarlierOnesAndNoLaterOne) {
  AgentWorld w;
  w.lease();
  RankKey second{JobId{1}, 2, 0};
  w.order(launch(second));
  w.host.listener(in_phase(second, RankPhase::exited));
  w.order(ForgetRank{second});
  w.order(launch(kRank));
  EXPECT_EQ(w.status(kRank).cause, ExitCause::lost);
  w.order(ForgetRank{kRank});
  EXPECT_THAT(w.agent->ranks(), IsEmpty());
  RankKey third{JobId{1}, 3, 0};
  w.order(launch(third));
  w.order(launch({JobId{2}, 1, 0}));
  EXPECT_EQ(w.host.calls.back(), "launch 2.1.0");
  EXPECT_EQ(w.agent->ranks().size(), 2u);
}

TEST(Forget, OfALiveRankIsIgnored) {
  AgentWorld w;
  w.lease();
  w.order(launch());
  w.order(ForgetRank{kRank});
  EXPECT_EQ(w.agent->ranks().size(), 1u);
  EXPECT_THAT(w.host.calls, ElementsAre("launch 1.1.0"));
}

TEST(Suspend, OfAnUnknownRankKeepsALateLaunchFromRunning) {
  AgentWorld w;
  w.lease();
  w.order(SuspendRank{kRank, 60s});
  EXPECT_EQ(w.status(kRank).phase, RankPhase::exited);
  EXPECT_EQ(w.status(kRank).cause, ExitCause::killed);
  w.order(ContinueRank{kRank});
  w.order(launch());
  EXPECT_THAT(w.host.calls, IsEmpty());
}

TEST(Suspend, ReachesLiveRanksOnly) {
  AgentWorld w;
  w.lease();
  w.order(ContinueRank{kRank});
  EXPECT_THAT(w.agent->ranks(), IsEmpty()) << "unknown";
  w.order(launch());
  w.order(SuspendRank{kRank, 60s});
  w.order(ContinueRank{kRank});
  w.host.listener(in_phase(kRank, RankPhase::exited));
  w.order(SuspendRank{kRank, 60s});
  w.order(ContinueRank{kRank});
  EXPECT_THAT(w.host.calls, ElementsAre("launch 1.1.0", "suspend 1.1.0 1m", "resume 1.1.0"));
}

TEST(Epochs, OrdersOfAnOlderLeaderAreIgnored) {
  AgentWorld w;
  w.lease();
  w.order(launch(), 3);
  EXPECT_EQ(w.agent->epoch(), Epoch{3});
  w.order(KillRank{kRank}, 2);
  w.order(launch({JobId{2}, 1, 0}), 2);
  EXPECT_THAT(w.host.calls, ElementsAre("launch 1.1.0"));
  w.order(KillRank{kRank}, 3);
  EXPECT_EQ(w.host.calls.back(), "kill 1.1.0");
}

TEST(Epochs, GrantsOfAnOlderLeaderAreIgnored) {
  AgentWorld w;
  w.lease();
  w.order(KillRank{{JobId{9}, 1, 0}}, 3);
  w.run(5s);
  w.order(GrantLease{w.link.reports.back().sequence, 1h, 5s}, 2);
  EXPECT_EQ(w.agent->lease_until(), MonoTime(30s));
}

TEST(Adoption, KnowsTheRanksAnEarlierAgentLeft) {
  AgentWorld w({in_phase(kRank, RankPhase::running)});
  w.lease();
  w.order(launch());
  EXPECT_THAT(w.host.calls, IsEmpty());
  w.order(KillRank{kRank});
  EXPECT_THAT(w.host.calls, ElementsAre("kill 1.1.0"));
}

}  // namespace
}  // namespace hai::test
