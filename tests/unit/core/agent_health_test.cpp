// What passes between the agent and its node's health: checks, looks, hooks and the server's clock.

#include "tests/unit/core/agent_world.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Does nothing by itself and writes down what it is asked.
class FakeHealth final : public HealthPort {
 public:
  void start(std::function<void()> given) override { changed = std::move(given); }
  const std::vector<CheckResult>* results() const override { return known ? &*known : nullptr; }
  std::vector<GpuReading> gpu_readings() const override { return readings; }
  void look(std::function<void()> done) override { looks.push_back(std::move(done)); }
  void clear(const ClearFault& order) override { cleared.push_back(order.name); }
  void set_server_skew(Duration given) override { skew = given; }
  void run_hook(const RunHook& order, std::function<void(HookResult)> done) override {
    hooks.push_back(order.id);
    hook_done = std::move(done);
  }

  std::optional<std::vector<CheckResult>> known;
  std::vector<GpuReading> readings;
  std::function<void()> changed;
  std::vector<std::function<void()>> looks;
  std::vector<std::string> cleared;
  std::optional<Duration> skew;
  std::vector<int64_t> hooks;
  std::function<void(HookResult)> hook_done;
};

struct Watched {
  FakeHealth health;
  AgentWorld w{{}, &health};
  Watched() { w.lease(); }
  // What was reported since the last call, after a moment.
  std::vector<AgentReport> reports() {
    w.run(1s);
    return std::exchange(w.link.reports, {});
  }
};

// The server reads its clock between the report and the answer; half way is the best guess.
TEST(ServerClock, IsComparedAtHalfOfTheRoundTrip) {
  for (const Duration skew : {Duration(0s), Duration(5s), Duration(-5s)}) {
    Watched x;
    x.w.run(5s);
    const int64_t sequence = x.w.link.reports.back().sequence;
    const UnixTime server_time = x.w.loop.wall_now() + 200ms + skew;
    x.w.run(400ms);
    x.w.order(GrantLease{sequence, 30s, 5s, 37s, server_time});
    EXPECT_EQ(x.health.skew, skew);
  }
}

TEST(ServerClock, IsNotKnownFromAGrantThatDoesNotTellIt) {
  Watched x;
  x.w.run(5s);
  x.w.order(GrantLease{x.w.link.reports.back().sequence, 30s, 5s, 37s});
  EXPECT_EQ(x.health.skew, std::nullopt);
}

TEST(Hook, RunsOnceHoweverOftenItIsOrdered) {
  Watched x;
  x.w.order(RunHook{.id = 1});
  x.w.order(RunHook{.id = 1});
  EXPECT_THAT(x.health.hooks, ElementsAre(1));
  x.health.hook_done({.id = 1, .exit_code = 3});
  x.w.order(RunHook{.id = 1});
  EXPECT_THAT(x.health.hooks, ElementsAre(1)) << "nor when it has ended";
  x.w.order(RunHook{.id = 2});
  EXPECT_THAT(x.health.hooks, ElementsAre(1, 2));
}

TEST(Hook, ItsResultIsReportedAtOnceAndUntilTheNextOne) {
  Watched x;
  x.w.order(RunHook{.id = 1});
  const auto done = x.health.hook_done;
  done({.id = 1, .exit_code = 3});
  const auto reports = x.reports();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].hook, (HookResult{.id = 1, .exit_code = 3}));
  x.w.run(5s);
  ASSERT_THAT(x.w.link.reports, SizeIs(1));
  EXPECT_EQ(x.w.link.reports[0].hook, (HookResult{.id = 1, .exit_code = 3}));
  x.w.order(RunHook{.id = 2});
  done({.id = 1, .exit_code = 4});
  x.w.link.reports.clear();
  x.w.run(5s);
  ASSERT_THAT(x.w.link.reports, SizeIs(1));
  EXPECT_EQ(x.w.link.reports[0].hook, std::nullopt) << "a late answer to the first";
}

TEST(Checks, GoOutAtOnceWhenTheyChangeAndOnEachNewStream) {
  Watched x;
  EXPECT_THAT(x.reports(), IsEmpty());
  x.health.known = {{.name = "gpu_xid", .verdict = CheckVerdict::fail}};
  x.health.changed();
  auto reports = x.reports();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].checks, x.health.known);
  x.w.run(5s);
  EXPECT_EQ(x.w.link.reports.back().checks, std::nullopt) << "not again";
  x.w.link.listener.disconnected();
  x.w.link.listener.connected();
  EXPECT_EQ(x.w.link.reports.back().checks, x.health.known);
}

TEST(Checks, AreClearedByOrder) {
  Watched x;
  x.w.order(ClearFault{.name = "gpu_xid"});
  EXPECT_THAT(x.health.cleared, ElementsAre("gpu_xid"));
}

TEST(GpuReadings, GoOutWhenTheyDiffer) {
  Watched x;
  x.health.readings.resize(8);
  x.w.run(5s);
  EXPECT_EQ(x.w.link.reports.back().gpu_readings, x.health.readings);
  x.w.run(5s);
  EXPECT_NE(x.w.link.reports.back().gpu_readings, x.health.readings) << "not again";
  x.w.link.listener.disconnected();
  x.w.link.listener.connected();
  EXPECT_EQ(x.w.link.reports.back().gpu_readings, x.health.readings) << "a new stream has none";
}

RankStatus ended(ExitCause cause, int exit_code) {
  return {.key = kRank, .phase = RankPhase::exited, .cause = cause, .exit_code = exit_code};
}

TEST(Look, ComesBeforeTheNewsOfAProgramThatFailed) {
  Watched x;
  x.w.order(launch());
  x.w.host.listener(in_phase(kRank, RankPhase::running));
  x.reports();
  x.w.host.listener(ended(ExitCause::program, 1));
  x.w.host.listener(ended(ExitCause::program, 1));
  ASSERT_THAT(x.health.looks, SizeIs(1)) << "one is enough";
  EXPECT_THAT(x.reports(), IsEmpty());
  EXPECT_EQ(x.w.status(kRank).phase, RankPhase::running);
  x.health.looks[0]();
  const auto reports = x.reports();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].ranks[0], ended(ExitCause::program, 1));
}

TEST(Look, IsNotTakenForAnEndThatNoMachineCaused) {
  for (const RankStatus& end : {ended(ExitCause::program, 0), ended(ExitCause::killed, 137)}) {
    Watched x;
    x.w.order(launch());
    x.w.host.listener(in_phase(kRank, RankPhase::running));
    x.w.host.listener(end);
    EXPECT_THAT(x.health.looks, IsEmpty());
    EXPECT_EQ(x.w.status(kRank), end);
  }
}

}  // namespace
}  // namespace hai::test
