// The lease counts from when the report was sent, so that server and agent never disagree about who
// is late.

#include "tests/unit/core/agent_world.h"

namespace hai::test {
namespace {

TEST(Lease, CountsFromTheReportNotFromTheAnswer) {
  AgentWorld w;
  w.link.listener.connected();
  int64_t sequence = w.link.reports.back().sequence;
  w.run(3s);
  w.order(GrantLease{sequence, 30s, 5s, 37s});
  EXPECT_EQ(w.agent->lease_until(), MonoTime(30s));
  EXPECT_EQ(w.host.lease_until, MonoTime(37s)) << "ranks live until the fence";
}

TEST(Lease, IsNeverShortenedByALateAnswer) {
  AgentWorld w;
  w.link.listener.connected();
  int64_t first = w.link.reports.back().sequence;
  w.run(5s);
  int64_t second = w.link.reports.back().sequence;
  ASSERT_NE(first, second);
  w.order(GrantLease{second, 30s, 5s});
  w.order(GrantLease{first, 30s, 5s});
  EXPECT_EQ(w.agent->lease_until(), MonoTime(35s));
}

TEST(Lease, IsNotGivenTwiceForOneReport) {
  AgentWorld w;
  w.link.listener.connected();
  int64_t first = w.link.reports.back().sequence;
  w.order(GrantLease{first, 30s, 5s});
  w.run(10s);
  w.order(GrantLease{first, 1h, 5s});
  EXPECT_EQ(w.agent->lease_until(), MonoTime(30s));
}

TEST(Lease, AnswersToAnEarlierStreamDoNotCount) {
  for (const bool is_told_of_the_end : {true, false}) {
    AgentWorld w;
    w.link.listener.connected();
    int64_t first = w.link.reports.back().sequence;
    if (is_told_of_the_end) w.link.listener.disconnected();
    w.run(1s);
    w.link.listener.connected();
    w.order(GrantLease{first, 30s, 5s});
    EXPECT_EQ(w.agent->lease_until(), MonoTime{});
  }
}

TEST(Lease, AnAgentThatIsGoneLeavesNothingOnTheLoop) {
  AgentWorld w;
  w.lease();
  w.order(launch());
  w.agent.reset();
  const int64_t before = w.timeline.callbacks_run();
  w.run(10min);
  EXPECT_EQ(w.timeline.callbacks_run(), before);
}

// Without it the rank would die with the lease, before the agent has asked a single peer.
TEST(Lease, ARankOfTheNextAgentLivesToTheFenceToo) {
  AgentWorld w;
  w.lease();
  w.run(10s);
  w.start();
  w.link.listener.connected();
  w.order(launch());
  EXPECT_EQ(w.host.lease_until, MonoTime(37s));
}

TEST(Lease, UnknownReportsGetNone) {
  AgentWorld w;
  w.link.listener.connected();
  w.order(GrantLease{w.link.reports.back().sequence + 1, 30s, 5s});
  w.order(GrantLease{-1, 30s, 5s});
  EXPECT_EQ(w.agent->lease_until(), MonoTime{});
}

}  // namespace
}  // namespace hai::test
