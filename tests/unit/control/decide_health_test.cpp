// What each tier of a fault does to its node and the jobs there, and the guards against doing it to
// too many.

#include "server/control/health/decide_health.h"

#include "server/model/lemon_score.h"
#include "tests/unit/control/health_world.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using T = HealthTier;

TEST(Tier, LogAndAppAreWrittenDownAndTouchNothing) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j"), {"node-1"});
  w.report("node-1", {failing("gpu_xid", T::app, "gpu 3"), failing("oom_kill", T::log)});
  w.advance(30s);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open);
  EXPECT_TRUE(w.c.attempt(job).is_live());
  EXPECT_EQ(w.node("node-1").health.find("gpu_xid", "gpu 3")->done, FaultAnswer::noted);
  EXPECT_THAT(w.incidents(kNodeFault), IsEmpty());
}

TEST(Tier, ValidateTakesNoNewJobsAndLetsThoseThereEnd) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j"), {"node-1"});
  w.report("node-1", {failing("gpu_xid", T::validate, "gpu 3")});
  w.advance(60s);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::cordoned);
  EXPECT_EQ(w.node("node-1").scheduling_by, kByHealth);
  EXPECT_THAT(w.node("node-1").scheduling_reason, HasSubstr("broken (gpu_xid gpu 3)"));
  EXPECT_FALSE(w.c.attempt(job).end);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::emptying);
  EXPECT_THAT(w.incidents(kNodeFault), ElementsAre("node/node-1"));
}

TEST(Tier, DrainMovesJobsAwayWithNotice) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j"), {"node-1"});
  w.report("node-1", {failing("gpu_remapped_rows", T::drain, "gpu 3")});
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::draining);
  w.c.pass();
  EXPECT_EQ(w.c.attempt(job).state, AttemptState::suspending);
}

TEST(Tier, EvictEndsWhatUsesTheGpuAtOnceAndAvoidsTheNode) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const JobId hit = w.c.run(hai::test::job("hit").gpus(4), {"node-1"}, GpuSet::first(4));
  const JobId spared = w.c.run(hai::test::job("spared").gpus(4), {"node-1"}, {0xf0});
  w.report("node-1", {failing("gpu_xid", T::evict, "gpu 3", {1 << 3})});
  ASSERT_TRUE(w.c.attempt(hit).end);
  EXPECT_TRUE(w.c.attempt(hit).end->infrastructure);
  EXPECT_THAT(w.c.attempt(hit).end->reason, HasSubstr("node-1: broken (gpu_xid gpu 3)"));
  EXPECT_FALSE(w.c.attempt(spared).end) << "it gets its notice";
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::draining);
  w.c.leave(hit, AttemptState::failed);
  w.report("node-1", w.session("node-1").checks, {exited({hit, 1, 0}, ExitCause::killed, 137)});
}

TEST(Tier, ANodeThatAPersonHasTakenOutStaysAsItIs) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  ASSERT_TRUE(w.c.decide(CordonNode{"node-1", "mine"}).is_ok());
  w.report("node-1", {failing("gpu_remapped_rows", T::drain, "gpu 3")});
  w.advance(60s);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::cordoned);
  EXPECT_EQ(w.node("node-1").scheduling_by, "ann");
  EXPECT_EQ(w.repair("node-1").step, RepairStep::none);
  w.report("node-1", {});
  w.advance(2s);
  EXPECT_THAT(w.incidents(kNodeFault), IsEmpty()) << "over when nobody sees the fault any more";
}

// A bad agent's checks say another thing in each of its reports.
TEST(Checks, ThatChangeInEachReportAreTakenAtAPaceAndTheLatestInTheEnd) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const CheckResult broken = failing("gpu_xid", T::log, "gpu 3");
  CheckResult fine = broken;
  fine.verdict = CheckVerdict::ok;
  const auto changes = [&] {
    return std::ranges::count_if(w.c.events(), [](const Event& event) {
      return std::holds_alternative<NodeCheckChanged>(event.body);
    });
  };
  for (int i = 0; i < 1'000; ++i) w.report("node-1", {i % 2 == 0 ? broken : fine});
  EXPECT_GE(changes(), 100);
  EXPECT_LE(changes(), 101);
  w.sessions.close(w.session("node-1").connection);
  w.sessions.open(ConnectionId{77}, "node-1");
  w.sessions.bind(*w.sessions.find(ConnectionId{77}), w.c.node_id("node-1"));
  w.report("node-1", {broken});
  EXPECT_LE(changes(), 101) << "a new connection buys nothing";
  w.report("node-1", {again(broken)});
  w.advance(10s);
  w.report("node-1", w.session("node-1").checks);
  EXPECT_LE(changes(), 102);
  EXPECT_EQ(w.node("node-1").health.find("gpu_xid", "gpu 3")->result.at, again(broken).at)
      << "what it said last is known";
}

TEST(Tier, AFaultThatStandsActsOnceAndOneThatComesAgainActsAgain) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const CheckResult fault = failing("gpu_xid", T::validate, "gpu 3");
  w.report("node-1", {fault});
  const size_t events = w.c.events().size();
  w.report("node-1", {fault});
  EXPECT_EQ(w.c.events().size(), events);
  w.report("node-1", {again(fault)});
  EXPECT_THAT(w.marks("node-1"), ElementsAre("validate gpu_xid", "validate gpu_xid"));
}

TEST(Tier, ProgramsFaultsOfThreeJobsInADayAreTheNodes) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const CheckResult fault = failing("gpu_xid", T::app, "gpu 3");
  for (const std::string user : {"ann", "bob"}) {
    const JobId job = w.c.run(hai::test::job(user + "s").user(user), {"node-1"});
    w.report("node-1", {w.said_now(fault)});
    w.report("node-1", {w.said_now(fault)});
    w.c.finish(job, JobState::failed);
    EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open) << user;
  }
  const JobId third = w.c.run(hai::test::job("third"), {"node-1"});
  w.report("node-1", {w.said_now(fault)});
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::cordoned);
  w.c.finish(third, JobState::failed);
  w.advance(3s);
  w.validation_ends("node-1", 0);
  w.advance(2s);
  ASSERT_EQ(w.node("node-1").scheduling, Scheduling::open);
  w.c.run(hai::test::job("fourth"), {"node-1"});
  w.report("node-1", {w.said_now(fault)});
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open) << "the validation has cleared it";
  EXPECT_EQ(lemon_score(w.node("node-1").health, w.c.now, 1'000).score, 0);
}

TEST(MassFault, ALeafWithOneFaultIsHeldAndOpensByItself) {
  HealthWorld w(cluster(nodes(4, gpus(8)), nodes(2, gpus(8)).leaf("leaf-2")));
  const JobId job = w.c.run(hai::test::job("j").nodes(4), {"node-1", "node-2", "node-3", "node-4"});
  for (const std::string name : {"node-1", "node-2", "node-3", "node-4"}) {
    w.report(name, {failing("ib_link", T::evict, "mlx5_0/1")});
  }
  EXPECT_FALSE(w.c.attempt(job).end) << "what nodes share is waited for";
  w.advance(w.c.knobs.fault_patience + 1s);
  EXPECT_FALSE(w.c.attempt(job).end);
  EXPECT_THAT(w.incidents(kMassFault), ElementsAre("ib_link@leaf A/leaf-1"));
  for (const std::string name : {"node-1", "node-2", "node-3", "node-4"}) {
    EXPECT_EQ(w.node(name).scheduling, Scheduling::cordoned) << name;
    EXPECT_THAT(w.marks(name), IsEmpty()) << "it does not count against the node";
  }
  for (const std::string name : {"node-1", "node-2", "node-3", "node-4"}) w.report(name, {});
  w.advance(2s);
  EXPECT_THAT(w.incidents(kMassFault), IsEmpty());
  for (const std::string name : {"node-1", "node-2", "node-3", "node-4"}) {
    EXPECT_EQ(w.node(name).scheduling, Scheduling::open) << name;
  }
}

// Held for ever otherwise, and no person would be called.
TEST(MassFault, WhoIsLeftWhenTheOthersAreWellHasAFaultOfItsOwn) {
  HealthWorld w(cluster(nodes(4, gpus(8))));
  for (const std::string name : {"node-1", "node-2", "node-3", "node-4"}) {
    w.report(name, {failing("ib_link", T::evict, "mlx5_0/1")});
  }
  w.advance(w.c.knobs.fault_patience + 1s);
  ASSERT_THAT(w.incidents(kMassFault), SizeIs(1));
  for (const std::string name : {"node-1", "node-2"}) w.report(name, {});
  w.advance(3s);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open);
  EXPECT_THAT(w.marks("node-3"), ElementsAre("evict ib_link"));
  EXPECT_NE(w.repair("node-4").step, RepairStep::none);
  EXPECT_THAT(w.incidents(kMassFault), IsEmpty());
  EXPECT_THAT(w.incidents(kNodeFault), ElementsAre("node/node-3", "node/node-4"));
}

TEST(MassFault, WhatOneOfThemGetsAgainLaterIsItsOwn) {
  HealthWorld w(cluster(nodes(4, gpus(8))));
  for (const std::string name : {"node-1", "node-2", "node-3", "node-4"}) {
    w.report(name, {failing("ib_link", T::evict, "mlx5_0/1")});
  }
  w.advance(w.c.knobs.fault_patience + 1s);
  ASSERT_THAT(w.incidents(kMassFault), SizeIs(1));
  w.report("node-1", {});
  w.advance(5min);
  ASSERT_EQ(w.node("node-1").scheduling, Scheduling::open);
  w.report("node-1", {failing("ib_link", T::evict, "mlx5_0/1")});
  w.advance(w.c.knobs.fault_patience + 1s);
  EXPECT_THAT(w.marks("node-1"), ElementsAre("flash_cut ib_link", "evict ib_link"));
  EXPECT_THAT(w.marks("node-2"), IsEmpty()) << "the others are still held";
}

// When each of them looked for all others, this took six times as long.
TEST(MassFault, OfThousandsOfNodesIsOneIncidentInOneTick) {
  HealthWorld w(cluster(nodes(3'000, gpus(8))));
  for (int i = 1; i <= 3'000; ++i) {
    w.report(fmt::format("node-{}", i), {failing("ib_link", T::evict, "mlx5_0/1")});
  }
  w.advance(w.c.knobs.fault_patience + 1s);
  EXPECT_THAT(w.incidents(kMassFault), SizeIs(1));
  for (int i : {1, 2, 1'500, 3'000}) {
    EXPECT_EQ(w.node(fmt::format("node-{}", i)).scheduling, Scheduling::cordoned) << i;
  }
}

TEST(MassFault, TwoOfALeafAreTheNodesOwn) {
  HealthWorld w(cluster(nodes(6, gpus(8))));
  for (const std::string name : {"node-1", "node-2"}) {
    w.report(name, {failing("ib_link", T::evict, "mlx5_0/1")});
  }
  w.advance(w.c.knobs.fault_patience + 1s);
  EXPECT_THAT(w.marks("node-1"), ElementsAre("evict ib_link"));
  EXPECT_THAT(w.marks("node-2"), ElementsAre("evict ib_link"));
  EXPECT_THAT(w.incidents(kMassFault), IsEmpty());
}

TEST(MassFault, OneAfterTheOtherOverMinutesAreTheNodesOwn) {
  for (const auto& [pause, own] : {std::pair(30s, 2), {31s, 4}}) {
    HealthWorld w(cluster(nodes(12, gpus(8))));
    int acted = 0;
    for (int i = 1; i <= 4; ++i) {
      w.report(fmt::format("node-{}", i), {failing("gpu_count", T::evict)});
      w.advance(pause);
      acted += !w.marks(fmt::format("node-{}", i)).empty();
    }
    EXPECT_EQ(acted, own) << "three within a minute of each other share it, with pauses of "
                          << pause;
  }
}

TEST(MassFault, DifferentFaultsAtOnceAreTheNodesOwn) {
  HealthWorld w(cluster(nodes(8, gpus(8))));
  const char* kFaults[] = {"gpu_count", "gpu_state", "gpu_nvlink", "gpu_clocks"};
  for (int i = 0; i < 4; ++i) {
    w.report(fmt::format("node-{}", i + 1), {failing(kFaults[i], T::evict)});
  }
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(w.marks(fmt::format("node-{}", i + 1)),
                ElementsAre(fmt::format("evict {}", kFaults[i])));
  }
  EXPECT_THAT(w.incidents(kMassFault), IsEmpty());
}

TEST(MassFault, ARolloutThatBreaksGpusEverywhereStopsAfterTheFirst) {
  HealthWorld w(cluster(nodes(2, gpus(8)).leaf("a"), nodes(2, gpus(8)).leaf("b"),
                        nodes(2, gpus(8)).leaf("c")));
  for (int i = 1; i <= 6; ++i) {
    w.report(fmt::format("node-{}", i), {failing("gpu_count", T::evict)});
    w.advance(2s);
  }
  int acted = 0;
  for (int i = 1; i <= 6; ++i) acted += !w.marks(fmt::format("node-{}", i)).empty();
  EXPECT_EQ(acted, w.c.knobs.mass_fault_nodes - 1);
  EXPECT_THAT(w.incidents(kMassFault), ElementsAre("gpu_count@the cluster"));
}

TEST(Attribution, AProgramThatFailsOnABrokenNodeOfItsGangIsNotToBlame) {
  HealthWorld w(cluster(nodes(4, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j").nodes(2), {"node-1", "node-2"});
  w.report("node-2", {failing("gpu_xid", T::validate, "gpu 3")});
  w.report("node-1", {}, {exited({job, 1, 0}, ExitCause::program, 1)});
  ASSERT_TRUE(w.c.attempt(job).end);
  EXPECT_TRUE(w.c.attempt(job).end->infrastructure);
  EXPECT_THAT(w.c.attempt(job).end->reason,
              HasSubstr("exited with code 1; node-2: broken (gpu_xid gpu 3)"));
  w.report("node-2", w.session("node-2").checks, {exited({job, 1, 1}, ExitCause::killed, 137)});
  EXPECT_EQ(w.c.job(job).state, JobState::suspended);
  EXPECT_THAT(w.c.job(job).avoid, ElementsAre(w.c.node_id("node-2")));
}

TEST(Attribution, WhatTheKernelSaidLongAgoIsNoExcuseWhatStillFailsIs) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const JobId old = w.c.run(hai::test::job("old"), {"node-1"});
  const JobId live = w.c.run(hai::test::job("live"), {"node-2"});
  const CheckResult said = failing("gpu_xid", T::validate, "gpu 3");
  const CheckResult standing = failing("gpu_nvlink", T::validate, "gpu 3");
  w.report("node-1", {said});
  w.report("node-2", {standing});
  w.advance(w.c.knobs.attribution_before + 1s);
  w.report("node-1", {said}, {exited({old, 1, 0}, ExitCause::program, 1)});
  w.report("node-2", {standing}, {exited({live, 1, 0}, ExitCause::program, 1)});
  EXPECT_EQ(w.c.job(old).state, JobState::failed);
  EXPECT_EQ(w.c.job(live).state, JobState::suspended);
}

TEST(Attribution, AFaultReportedWithTheFailureExplainsIt) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j"), {"node-1"});
  w.report("node-1", {failing("gpu_state", T::evict, "gpu 3")},
           {exited({job, 1, 0}, ExitCause::program, 1)});
  EXPECT_EQ(w.c.job(job).state, JobState::suspended);
  EXPECT_EQ(w.c.job(job).counters.requeue_count, 1);
}

TEST(Attribution, ACutThatHasHealedExplainsAGangsFailureForSomeMinutes) {
  HealthWorld w(cluster(nodes(4, gpus(8))));
  CheckResult cut = failing("ib_link", T::evict, "mlx5_0/1");
  cut.verdict = CheckVerdict::warn;
  CheckResult healed = cut;
  healed.verdict = CheckVerdict::ok;
  const JobId gang = w.c.run(hai::test::job("gang").nodes(2), {"node-1", "node-2"});
  const JobId single = w.c.run(hai::test::job("single"), {"node-3"});
  for (const std::string name : {"node-2", "node-3"}) {
    w.report(name, {cut});
    w.report(name, {healed});
  }
  EXPECT_EQ(w.node("node-2").scheduling, Scheduling::open) << "it is not drained for one";
  w.advance(1min);
  w.report("node-1", {}, {exited({gang, 1, 0}, ExitCause::program, 1)});
  ASSERT_TRUE(w.c.attempt(gang).end);
  EXPECT_TRUE(w.c.attempt(gang).end->infrastructure);
  w.report("node-3", {healed}, {exited({single, 1, 0}, ExitCause::program, 1)});
  EXPECT_EQ(w.c.job(single).state, JobState::failed) << "one node needs no network";
}

TEST(Attribution, AHealedFaultExplainsForAttributionBeforeAndNoLonger) {
  for (const auto& [later, blamed] : {std::pair(-1s, true), {1s, false}}) {
    HealthWorld w(cluster(nodes(2, gpus(8))));
    w.report("node-1", {failing("gpu_state", T::drain, "gpu 3")});
    w.report("node-1", {});
    const JobId job = w.c.run(hai::test::job("j"), {"node-1"});
    w.c.advance(w.c.knobs.attribution_before + later);
    w.report("node-1", {}, {exited({job, 1, 0}, ExitCause::program, 1)});
    EXPECT_EQ(w.c.job(job).state, blamed ? JobState::suspended : JobState::failed);
  }
}

TEST(Attribution, AnotherGpusFaultIsNoExcuse) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j").gpus(4), {"node-1"}, GpuSet::first(4));
  w.report("node-1", {failing("gpu_xid", T::validate, "gpu 7", {1 << 7})},
           {exited({job, 1, 0}, ExitCause::program, 1)});
  EXPECT_EQ(w.c.job(job).state, JobState::failed);
}

TEST(Attribution, AFaultOfOneOfItsGpusIsAnExcuse) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j").gpus(4), {"node-1"}, GpuSet::first(4));
  w.report("node-1", {failing("gpu_xid", T::validate, "gpu 3", {1 << 3})},
           {exited({job, 1, 0}, ExitCause::program, 1)});
  EXPECT_EQ(w.c.job(job).state, JobState::suspended);
}

TEST(Attribution, AWellPortIsNoCutAndOneThatWasNeverDownNeither) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  CheckResult well = failing("ib_link", T::evict, "mlx5_0/1");
  well.verdict = CheckVerdict::ok;
  w.report("node-1", {well});
  w.report("node-1", {again(well)});
  EXPECT_THAT(w.marks("node-1"), IsEmpty());
  CheckResult down = well;
  down.verdict = CheckVerdict::warn;
  w.report("node-1", {down});
  w.report("node-1", {well});
  EXPECT_THAT(w.marks("node-1"), ElementsAre("flash_cut ib_link"));
}

TEST(Attribution, WhatFailedMinutesBeforeItsFaultWasSeenGoesBackToTheQueue) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j"), {"node-1"});
  const JobId old = w.c.run(hai::test::job("old"), {"node-2"});
  w.report("node-2", {}, {exited({old, 1, 0}, ExitCause::program, 1)});
  w.advance(2min);
  w.report("node-1", {}, {exited({job, 1, 0}, ExitCause::program, 1)});
  ASSERT_EQ(w.c.job(job).state, JobState::failed);
  w.advance(4min);
  w.report("node-1", {failing("gpu_xid", T::evict, "gpu 3")});
  w.report("node-2", {failing("gpu_xid", T::evict, "gpu 3")});
  EXPECT_EQ(w.c.job(job).state, JobState::suspended);
  EXPECT_THAT(w.c.job(job).avoid, ElementsAre(w.c.node_id("node-1")));
  EXPECT_EQ(w.c.job(old).state, JobState::failed) << "that was longer ago than attribution_after";
}

// Else the work would run twice.
TEST(Attribution, AFailureThatWasRunAgainIsNotOpenedAgain) {
  const auto run_again = [](HealthWorld& w, JobId id, const std::string& name) {
    const auto reply =
        w.c.decide(RerunJob{.old = std::make_shared<const Job>(w.c.job(id)), .name = name});
    EXPECT_TRUE(reply.is_ok()) << reply.status().message();
    return reply.value().job;
  };
  const auto fail_and_run_again = [&](HealthWorld& w, JobId id, const std::string& name) {
    w.report("node-1", {}, {exited({id, 1, 0}, ExitCause::program, 1)});
    ASSERT_EQ(w.c.job(id).state, JobState::failed);
    const JobId again = run_again(w, id, name);
    if (name.empty()) w.c.finish(again);
    w.report("node-1", {failing("gpu_xid", T::evict, "gpu 3")});
    EXPECT_EQ(w.c.job(id).state, JobState::failed) << name;
  };
  for (const std::string name : {"x", ""}) {
    HealthWorld one(cluster(nodes(2, gpus(8))));
    fail_and_run_again(one, one.c.run(job("j"), {"node-1"}), name);
    HealthWorld of_array(cluster(nodes(2, gpus(8))));
    const auto array = of_array.c.decide(SubmitJob{job("sweep").array("0-1").spec(), ""});
    ASSERT_TRUE(array.is_ok()) << array.status().message();
    const JobId task = of_array.c.state().find_task({array.value().job, 0})->id;
    of_array.c.place(task, of_array.c.on({"node-1"}));
    of_array.c.confirm(task);
    fail_and_run_again(of_array, task, name);
  }
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const JobId id = w.c.run(job("j"), {"node-1"});
  run_again(w, id, "beside");
  w.advance(1s);
  w.report("node-1", {}, {exited({id, 1, 0}, ExitCause::program, 1)});
  w.report("node-1", {failing("gpu_xid", T::evict, "gpu 3")});
  EXPECT_EQ(w.c.job(id).state, JobState::suspended) << "that one is not in its place";
}

TEST(Churn, EarlyFailuresOnThreeDisjointSetsAreTheJobsOwnFault) {
  HealthWorld w(cluster(nodes(6, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j").nodes(2).restart(100), {"node-1", "node-2"});
  const auto fail = [&](const std::string& a, const std::string& b) {
    const int attempt = w.c.attempt(job).number;
    w.report(a, {}, {exited({job, attempt, 0}, ExitCause::program, 7)});
    w.report(b, {}, {exited({job, attempt, 1}, ExitCause::killed, 137)});
  };
  const auto start = [&](const std::string& a, const std::string& b) {
    w.c.place(job, w.c.on({a, b}));
    w.c.confirm(job);
  };
  fail("node-1", "node-2");
  start("node-2", "node-3");
  fail("node-2", "node-3");
  EXPECT_EQ(w.c.job(job).early_failures.size(), 1u) << "node-2 was in both";
  start("node-3", "node-4");
  fail("node-3", "node-4");
  start("node-5", "node-6");
  ASSERT_EQ(w.c.job(job).state, JobState::running);
  fail("node-5", "node-6");
  EXPECT_EQ(w.c.job(job).state, JobState::failed);
  EXPECT_EQ(w.c.job(job).exit_code, 7);
  EXPECT_THAT(w.c.job(job).end_reason, testing::AllOf(HasSubstr("its own fault"),
                                                      HasSubstr("node-[1-2]: rank 0 on node-1")));
}

TEST(Churn, AnAttemptThatRanLongClearsTheRecord) {
  HealthWorld w(cluster(nodes(6, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j").restart(100), {"node-1"});
  w.report("node-1", {}, {exited({job, 1, 0}, ExitCause::program, 7)});
  EXPECT_EQ(w.c.job(job).early_failures.size(), 1u);
  w.c.place(job, w.c.on({"node-2"}));
  w.c.confirm(job);
  w.advance(w.c.knobs.early_failure + 1s);
  w.report("node-2", {}, {exited({job, 2, 0}, ExitCause::program, 7)});
  EXPECT_THAT(w.c.job(job).early_failures, IsEmpty());
}

constexpr int kNoMax = std::numeric_limits<int>::max();

TEST(Lemon, CountsTwentyEightDaysAndWhatAPersonHasNotAccepted) {
  const UnixTime now = unix_micros(0) + 100 * 24h;
  NodeHealth health;
  EXPECT_EQ(lemon_score(health, now, kNoMax).score, 0);
  EXPECT_EQ(lemon_score(health, now, kNoMax).explanation, "");
  health.marks = {{now - 29 * 24h, MarkKind::drain, "gpu_clocks", {}, ""},
                  {now - 3 * 24h, MarkKind::drain, "gpu_clocks", {}, ""},
                  {now - 2 * 24h, MarkKind::gang_failed, "hang", JobId{4}, "ann"},
                  {now - 1 * 24h, MarkKind::app_fault, "gpu_xid", JobId{4}, "ann"}};
  EXPECT_EQ(lemon_score(health, now, kNoMax).score, 5);
  EXPECT_EQ(lemon_score(health, now, kNoMax).explanation, "1 drain, 1 gang_failed in 28 days");
  health.marks.push_back({now, MarkKind::accepted, "", {}, ""});
  health.marks.push_back({now, MarkKind::validate, "gpu_xid", {}, ""});
  EXPECT_EQ(lemon_score(health, now, kNoMax).score, 1);
}

TEST(Lemon, OnePersonsJobsTakeNoNodeOut) {
  const UnixTime now = unix_micros(0) + 24h;
  NodeHealth health;
  const auto add = [&](const char* user, int64_t job) {
    health.marks.push_back({now, MarkKind::gang_failed, "lost", JobId{job}, user});
  };
  for (int64_t job = 1; job <= 8; ++job) add("ann", job);
  EXPECT_EQ(lemon_score(health, now, kNoMax).score, 16);
  EXPECT_EQ(lemon_score(health, now, 5).score, 5);
  add("bob", 10);
  EXPECT_EQ(lemon_score(health, now, 5).score, 7) << "another person's says more";
  health.marks.push_back({now, MarkKind::drain, "gpu_xid", {}, ""});
  EXPECT_EQ(lemon_score(health, now, 5).score, 10) << "and a fault speaks for itself";
  health.marks.push_back({now, MarkKind::accepted, "", {}, ""});
  EXPECT_EQ(lemon_score(health, now, 5).score, 0);
  // Marks of a version that did not note whose the jobs were may all be one person's.
  for (int64_t job = 11; job <= 18; ++job) add("", job);
  EXPECT_EQ(lemon_score(health, now, 5).score, 5);
}

}  // namespace
}  // namespace hai::test
