// Desired minus reported, as a table; and what is on its way is not sent again too soon.

#include "server/control/engine/reconcile.h"

#include "tests/unit/control/agent_reports.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string kind(const OrderBody& body) {
  if (std::holds_alternative<LaunchRank>(body)) return "launch";
  if (std::holds_alternative<SuspendRank>(body)) return "suspend";
  if (std::holds_alternative<ContinueRank>(body)) return "continue";
  if (std::holds_alternative<KillRank>(body)) return "kill";
  if (std::holds_alternative<ForgetRank>(body)) return "forget";
  return "other";
}

struct World {
  Cluster c = cluster(nodes(2, gpus(8)));
  JobId id;
  Session session;
  MonoTime mono{100s};
  bool is_addressed = true;  // a lease goes to the node as well

  explicit World(const std::string& desired) {
    session.node = NodeId{1};
    session.has_reported = true;
    if (desired == "none") {
      id = c.submit(job("j"));
      return;
    }
    id = c.place(job("j").nodes(2), {"node-1", "node-2"});
    if (desired == "placed") return;
    c.confirm(id);
    if (desired == "suspending" || desired == "suspending_late")
      c.emit(AttemptSuspending{id, 1, c.now + 60s, {}, "asked"});
    if (desired == "suspending_late") c.advance(60s + 16s);
    if (desired == "ending") c.emit(AttemptEnding{id, 1, {AttemptState::stopped, 0, "x", false}});
    if (desired == "rank_gone")
      c.emit(RankEnded{id, 1, 0, RankState::lost, ExitCause::lost, 0, "x"});
    if (desired == "ended") c.leave(id);
  }
  void reported(const std::string& what) {
    session.ranks.clear();
    RankKey key{id, 1, 0};
    if (what == "none") return;
    RankStatus status = what == "exited"     ? exited(key, ExitCause::program)
                        : what == "starting" ? starting(key)
                                             : running(key);
    status.suspend_notified = what == "notified";
    session.ranks[key] = status;
  }
  std::string orders() {
    std::string out;
    PlacesOfTurn places;
    const TurnOfNode turn{c.now, mono, is_addressed};
    for (const OrderBody& body : reconcile(c.state(), c.knobs, session, turn, places))
      out += (out.empty() ? "" : ",") + kind(body);
    return out;
  }
};

TEST(Reconcile, FollowsTheTable) {
  const std::vector<std::string> reports = {"none", "starting", "running", "notified", "exited"};
  const std::map<std::string, std::vector<std::string>> table = {
      // desired            none      starting   running    notified    exited
      {"none", {"", "kill", "kill", "kill", "forget"}},
      {"ended", {"", "kill", "kill", "kill", "forget"}},
      {"placed", {"launch", "", "", "continue", ""}},
      {"running", {"launch", "", "", "continue", ""}},
      {"suspending", {"suspend", "suspend", "suspend", "", ""}},
      {"suspending_late", {"kill", "kill", "kill", "kill", ""}},
      {"ending", {"kill", "kill", "kill", "kill", ""}},
      {"rank_gone", {"", "kill", "kill", "kill", "forget"}},
  };
  for (const auto& [desired, row] : table) {
    for (size_t i = 0; i < reports.size(); ++i) {
      World w(desired);
      w.reported(reports[i]);
      EXPECT_EQ(w.orders(), row[i]) << "desired " << desired << ", reported " << reports[i];
    }
  }
}

TEST(Reconcile, SendsAgainOnlyAfterAWhile) {
  World w("placed");
  EXPECT_EQ(w.orders(), "launch");
  EXPECT_EQ(w.orders(), "");
  w.mono += w.c.knobs.resend_after - 1us;
  EXPECT_EQ(w.orders(), "");
  w.mono += 1us;
  EXPECT_EQ(w.orders(), "launch");
}

TEST(Reconcile, ANewWishIsSentAtOnce) {
  World w("suspending");
  w.reported("running");
  EXPECT_EQ(w.orders(), "suspend");
  w.c.emit(AttemptContinued{w.id, 1, "test"});
  EXPECT_EQ(w.orders(), "") << "the agent has not shown the request to the program yet";
  w.reported("notified");
  EXPECT_EQ(w.orders(), "continue");
  w.c.emit(AttemptEnding{w.id, 1, {AttemptState::stopped, 0, "x", false}});
  EXPECT_EQ(w.orders(), "kill");
}

TEST(Reconcile, ForgetsWhatItSentAboutRanksThatAreOver) {
  World w("ended");
  w.reported("exited");
  EXPECT_EQ(w.orders(), "forget");
  w.reported("none");
  EXPECT_EQ(w.orders(), "");
  EXPECT_THAT(w.session.sent, IsEmpty());
}

TEST(Reconcile, ThatItMayForgetWaitsForCompanyForAMoment) {
  World w("ended");
  w.is_addressed = false;
  w.reported("exited");
  EXPECT_EQ(w.orders(), "");
  w.mono += kForgetPause - 1us;
  EXPECT_EQ(w.orders(), "");
  w.mono += 1us;
  EXPECT_EQ(w.orders(), "forget");
  EXPECT_EQ(w.orders(), "") << "it is on its way";
  w.mono += w.c.knobs.resend_after;
  EXPECT_EQ(w.orders(), "forget") << "it has shown no effect";
}

TEST(Reconcile, ThatItMayForgetGoesWithTheNextLaunch) {
  World w("ended");
  w.is_addressed = false;
  w.reported("exited");
  EXPECT_EQ(w.orders(), "");
  w.id = w.c.place(job("next").nodes(2), {"node-1", "node-2"});
  EXPECT_EQ(w.orders(), "launch,forget");
}

TEST(Reconcile, KillsStraysOfJobsItHasNeverHeardOf) {
  World w("none");
  w.session.ranks[{JobId{77}, 3, 1}] = running({JobId{77}, 3, 1});
  EXPECT_EQ(w.orders(), "kill");
}

TEST(Reconcile, CountsTheGraceFromTheDeadline) {
  World w("suspending");
  w.reported("running");
  w.c.advance(45s);
  PlacesOfTurn places;
  auto orders = reconcile(w.c.state(), w.c.knobs, w.session, {w.c.now, w.mono}, places);
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_EQ(std::get<SuspendRank>(orders[0]).grace, 15s);
  w.c.advance(20s);
  w.mono += 1h;
  orders = reconcile(w.c.state(), w.c.knobs, w.session, {w.c.now, w.mono}, places);
  EXPECT_EQ(std::get<SuspendRank>(orders[0]).grace, 0s) << "never negative";
}

TEST(Reconcile, ProgramsThatDoNotUseTheSdkAreToldBySignal) {
  for (const std::string signal : {"", "SIGUSR1", "none"}) {
    for (const bool uses_sdk : {false, true}) {
      World w("none");
      const JobId id = w.c.run(job("k").signal(signal), {"node-1"});
      w.session.ranks[{id, 1, 0}] = running({id, 1, 0});
      if (uses_sdk) w.c.emit(JobUsesSdk{id});
      w.c.emit(AttemptSuspending{id, 1, w.c.now + 60s, {}, "asked"});
      for (const bool is_listening : {false, true}) {
        PlacesOfTurn places;
        w.session.sent.clear();
        const auto orders = reconcile(w.c.state(), w.c.knobs, w.session,
                                      {w.c.now, w.mono, false, is_listening}, places);
        ASSERT_EQ(orders.size(), 1u);
        EXPECT_EQ(std::get<SuspendRank>(orders[0]).tell_by_signal,
                  signal.empty() && !uses_sdk && !is_listening);
      }
    }
  }
}

TEST(Launch, SaysAllThatANodeNeeds) {
  Cluster c = cluster(nodes(2, gpus(8)), nodes(1, gpus(8)).zone("B").leaf("leaf-9"));
  JobSpec spec = job("j").nodes(2).gpus(2).signal("SIGUSR1").spec();
  spec.parameters = "--fast";
  spec.environments = {{"A", "1"}};
  spec.watchdog = 7min;
  JobId id{1};
  c.emit(JobSubmitted{id, "ann", "", std::make_shared<const JobSpec>(spec), {}});
  c.emit(CheckpointReported{id, 0, {.step = 1, .path = "ckpt-1", .at = c.now}});
  c.emit(LifeStateSet{id, 0, "life"});
  c.place(id, c.on({"node-2", "node-3"}, GpuSet{0b1100}));
  PlacesOfTurn places;
  LaunchRank order = launch_order(c.state(), c.job(id), 1, places);
  EXPECT_EQ(order.key, (RankKey{id, 1, 1}));
  EXPECT_EQ(order.job_name, "j");
  EXPECT_EQ(order.user, "ann");
  EXPECT_EQ(order.parameters, "--fast");
  EXPECT_EQ(order.environments, spec.environments);
  EXPECT_EQ(order.gpus, GpuSet{0b1100});
  EXPECT_FALSE(order.exclusive);
  EXPECT_EQ(order.cpus, 16) << "a quarter of the GPUs, a quarter of the 64 CPUs";
  EXPECT_THAT(order.ranks, ElementsAre(RankPlace{"node-2", "10.0.0.3", "A", "leaf-1"},
                                       RankPlace{"node-3", "10.0.0.4", "B", "leaf-9"}));
  EXPECT_EQ(order.master_port, 10'000);
  EXPECT_EQ(order.suspend_signal, "SIGUSR1");
  EXPECT_EQ(order.suspend_exit_code, 85);
  EXPECT_EQ(order.watchdog, 7min);
  EXPECT_EQ(order.checkpoint, "ckpt-1");
  EXPECT_EQ(order.whole_life_state, "life");
}

// What a node waits for is looked at on every tick, so a rank that runs must not be among it.
TEST(Reconcile, AnOrderThatHasShownItsEffectIsWaitedForNoMore) {
  World w("placed");
  w.reported("none");
  EXPECT_EQ(w.orders(), "launch");
  EXPECT_EQ(w.session.sent.size(), 1u);
  EXPECT_EQ(w.orders(), "") << "it is on its way";
  EXPECT_EQ(w.session.sent.size(), 1u);
  w.reported("running");
  EXPECT_EQ(w.orders(), "");
  EXPECT_TRUE(w.session.sent.empty());
}

}  // namespace
}  // namespace hai::test
