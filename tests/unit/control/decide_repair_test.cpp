// The ladder on which a node comes back.

#include "server/control/decide_repair.h"

#include "server/control/decide_bisect.h"
#include "server/control/decide_hang.h"
#include "server/control/decide_health.h"
#include "server/control/decide_validate.h"
#include "tests/unit/control/health_world.h"

namespace hai::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using T = HealthTier;

std::string notes_of(const HealthWorld& w) {
  std::string text;
  for (const auto& [id, incident] : w.c.state().incidents()) {
    for (const IncidentNote& note : incident.notes) text += note.text + "\n";
  }
  return text;
}

TEST(Ladder, ADoubtIsValidatedAndTheNodeOpens) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  w.report("node-1", {failing("gpu_xid", T::validate, "gpu 3")});
  w.advance(3s);
  ASSERT_EQ(w.repair("node-1").step, RepairStep::validating);
  const JobId job = w.repair("node-1").job;
  EXPECT_EQ(w.c.job(job).spec->name, "validate-node-1");
  EXPECT_TRUE(w.c.job(job).spec->is_validation);
  w.validation_ends("node-1", 0);
  EXPECT_EQ(w.c.job(job).state, JobState::succeeded);
  w.advance(2s);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::none);
  EXPECT_EQ(w.node("node-1").health.find("gpu_xid", "gpu 3")->done, "mended");
  EXPECT_THAT(w.incidents(kNodeFault), IsEmpty());
  const std::vector<OrderBody> orders = w.c.decide_with([&](Decision& decision) {
    return repair_orders(decision.state(), w.c.knobs, w.session("node-1"), w.c.now, w.mono);
  });
  EXPECT_THAT(orders, ElementsAre(OrderBody(ClearFault{"gpu_xid", "gpu 3", w.c.now})));
}

TEST(Ladder, ItWaitsForTheJobsThatAreThere) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j"), {"node-1"});
  w.report("node-1", {failing("gpu_xid", T::validate, "gpu 3")});
  w.advance(1min);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::emptying);
  w.c.finish(job);
  w.advance(3s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::validating);
}

TEST(Ladder, WhatStandsNeedsTheGpusResetThenTheMachineThenAPerson) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  w.report("node-1", {failing("gpu_remapped_rows", T::drain, "gpu 3")});
  w.advance(3s);
  ASSERT_EQ(w.repair("node-1").step, RepairStep::repairing);
  EXPECT_EQ(w.repair("node-1").action, "reset_gpus");
  const auto orders = [&] {
    return repair_orders(w.c.state(), w.c.knobs, w.session("node-1"), w.c.now, w.mono);
  };
  EXPECT_THAT(orders(),
              ElementsAre(OrderBody(RunHook{w.repair("node-1").hook, HookAction::reset_gpus,
                                            w.repair("node-1").reason})));
  EXPECT_THAT(orders(), IsEmpty()) << "not again at once";
  w.hook_ends("node-1", 0);
  w.advance(30s);
  EXPECT_EQ(w.repair("node-1").action, "reset_gpus") << "the fault has a minute to go away";
  w.advance(40s);
  EXPECT_EQ(w.repair("node-1").action, "reboot");
  w.reboots("node-1", "boot-2");
  w.advance(70s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::service);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::drained);
  w.advance(1h);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::service);
  w.report("node-1", {});
  w.advance(3s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::validating) << "somebody has mended it";
  w.validation_ends("node-1", 0);
  w.advance(2s);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open);
}

TEST(Ladder, AResetThatHelpsIsFollowedByAValidation) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  w.report("node-1", {failing("gpu_xid", T::evict, "gpu 3")});
  w.advance(3s);
  w.hook_ends("node-1", 0);
  w.advance(2s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::validating)
      << "what the kernel said before is of before";
  w.report("node-1", {again(failing("gpu_xid", T::evict, "gpu 3"))});
  w.validation_ends("node-1", 0);
  w.advance(2s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::repairing) << "it happened again meanwhile";
  EXPECT_EQ(w.repair("node-1").round, 2);
}

TEST(Ladder, ASiteWithoutACommandSendsTheNodeToService) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  w.report("node-1", {failing("gpu_xid", T::evict, "gpu 3")});
  w.advance(3s);
  w.hook_ends("node-1", 127, "the agent's config names no command to reset_gpus");
  w.advance(2s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::repairing);
  EXPECT_EQ(w.repair("node-1").action, "reboot") << "it may name that one";
  w.hook_ends("node-1", 127, "the agent's config names no command to reboot");
  w.advance(2s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::service);
  EXPECT_THAT(w.node("node-1").scheduling_reason, HasSubstr("names no command to reboot"));
  EXPECT_THAT(w.node("node-1").scheduling_reason, HasSubstr("names no command to reset_gpus"));
}

TEST(Ladder, AHookThatNeverComesBackEndsInService) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  w.report("node-1", {failing("gpu_xid", T::evict, "gpu 3")});
  w.advance(w.c.knobs.hook_timeout + 5s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::service);
}

TEST(Ladder, AFailedValidationIsADoubtAboutTheMachine) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  w.report("node-1", {failing("gpu_xid", T::validate, "gpu 3")});
  w.advance(3s);
  w.validation_ends("node-1", 1,
                    {{.test = "gemm", .verdict = CheckVerdict::fail, .detail = "GPU 3 differs"}});
  w.advance(2s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::repairing);
  EXPECT_THAT(w.repair("node-1").reason, HasSubstr("gemm : GPU 3 differs"));
  EXPECT_THAT(w.marks("node-1"), Contains("validation_failed"));
}

TEST(Ladder, AValidatorThatReportsNothingHasShownNothing) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  ASSERT_TRUE(w.c.decide(ValidateNode{"node-1"}).is_ok());
  w.advance(3s);
  w.validation_ends("node-1", 0, {});
  w.advance(2s);
  EXPECT_NE(w.node("node-1").scheduling, Scheduling::open);
  EXPECT_THAT(w.node("node-1").health.judgement, HasSubstr("without a report"));
}

TEST(Ladder, AValidationThatCannotRunSaysSo) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  w.report("node-1", {failing("gpu_xid", T::validate, "gpu 3")});
  w.advance(3s);
  const JobId job = w.repair("node-1").job;
  RankStatus status = exited({job, 1, 0}, ExitCause::launch_failed);
  status.message = "hai-validator cannot be run";
  w.report("node-1", w.session("node-1").checks, {status});
  w.advance(2s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::service);
  EXPECT_THAT(w.repair("node-1").reason, HasSubstr("hai-validator cannot be run"));
}

TEST(Ladder, AValidationThatIsCutShortIsMadeAgain) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  ASSERT_TRUE(w.c.decide(ValidateNode{"node-1"}).is_ok());
  w.advance(3s);
  const JobId first = w.repair("node-1").job;
  ASSERT_TRUE(w.c.decide(StopJob{std::to_string(first.value), ""}).is_ok());
  w.report("node-1", {}, {exited({first, 1, 0}, ExitCause::killed, 137)});
  EXPECT_EQ(w.c.job(first).state, JobState::stopped);
  w.advance(3s);
  EXPECT_NE(w.repair("node-1").job, first);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::validating);
}

TEST(Ladder, APersonMayUndoEachStep) {
  for (const Duration after : {1s, 3s, 70s, 200s}) {
    HealthWorld w(cluster(nodes(2, gpus(8))));
    const CheckResult fault = failing("gpu_xid", T::evict, "gpu 3");
    w.report("node-1", {fault});
    w.advance(after);
    ASSERT_TRUE(w.c.decide(UndrainNode{"node-1"}).is_ok());
    EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open);
    w.report("node-1", {fault});
    w.advance(1min);
    EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open) << "accepted is accepted";
    EXPECT_EQ(w.repair("node-1").step, RepairStep::none);
    EXPECT_THAT(w.incidents(kNodeFault), IsEmpty());
    w.report("node-1", {again(fault)});
    EXPECT_NE(w.node("node-1").scheduling, Scheduling::open) << "but a new one is new";
  }
}

TEST(Ladder, AValidationThatNobodyNeedsAnyMoreLeaves) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  ASSERT_TRUE(w.c.decide(ValidateNode{"node-1"}).is_ok());
  w.advance(3s);
  const JobId job = w.repair("node-1").job;
  ASSERT_TRUE(w.c.attempt(job).is_live());
  ASSERT_TRUE(w.c.decide(UndrainNode{"node-1"}).is_ok());
  ASSERT_TRUE(w.c.attempt(job).end);
  w.report("node-1", {}, {exited({job, 1, 0}, ExitCause::killed, 137)});
  EXPECT_EQ(w.c.job(job).state, JobState::stopped);
  w.advance(3s);
  EXPECT_TRUE(w.node("node-1").occupants.empty());
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open);
}

TEST(Ladder, LemonsGoToServiceAndComeBackOnlyByAPerson) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  for (int i = 0; i < w.c.knobs.lemon_score / 2; ++i) {
    w.c.emit(NodeMarked{w.c.node_id("node-1"), "gang_failed lost", JobId{1}});
  }
  w.advance(3s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::service);
  EXPECT_THAT(w.node("node-1").scheduling_reason, HasSubstr("fails too often"));
  w.advance(1h);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::service);
  ASSERT_TRUE(w.c.decide(UndrainNode{"node-1"}).is_ok());
  w.advance(1min);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open);
}

TEST(Validate, IsForOperatorsAndTellsHowItIs) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  w.c.add_user("bob");
  EXPECT_EQ(w.c.decide(ValidateNode{"node-1"}, "bob").status().code(), Code::permission_denied);
  EXPECT_EQ(w.c.decide(ValidateNode{"node-9"}).status().code(), Code::not_found);
  EXPECT_EQ(w.c.decide(ValidateNode{"node-1"}).value().message, "is validated now");
  EXPECT_EQ(w.c.decide(ValidateNode{"node-1"}).value().message,
            "its validation is under way already");
  w.advance(3s);
  w.validation_ends("node-1", 0);
  w.advance(2s);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open);
  EXPECT_EQ(w.node("node-1").health.validated_at, w.node("node-1").health.judged_at);
}

TEST(Validate, ASlowNodeIsJudgedByTheOthers) {
  HealthWorld w(cluster(nodes(20, gpus(8))));
  const auto measure = [](double value) {
    return std::vector<Measurement>{{.test = "cpu",
                                     .metric = "memory_bandwidth",
                                     .unit = "GB/s",
                                     .value = value,
                                     .verdict = CheckVerdict::ok}};
  };
  for (int i = 1; i <= 20; ++i) {
    const std::string name = fmt::format("node-{}", i);
    ASSERT_TRUE(w.c.decide(ValidateNode{name}).is_ok());
    w.advance(3s);
    w.validation_ends(name, 0, measure(i == 20 ? 70 : 100 + i % 3));
    w.advance(2s);
    EXPECT_EQ(w.node(name).scheduling == Scheduling::open, i != 20) << name;
  }
  EXPECT_THAT(w.repair("node-20").reason, HasSubstr("cpu memory_bandwidth"));
}

TEST(Schedule, ValidatesIdleNodesWeeklyAndNeverInAnybodysWay) {
  HealthWorld w(cluster(nodes(4, gpus(8))));
  w.c.knobs.max_validations = 2;
  w.advance(5s);
  EXPECT_THAT(w.c.state().live(), IsEmpty()) << "a node counts from its registration";
  const JobId busy = w.c.run(hai::test::job("busy"), {"node-1"});
  w.c.advance(w.c.knobs.validate_period);
  const JobId waiting = w.c.submit(hai::test::job("waits").nodes(4));
  w.advance(5s);
  EXPECT_THAT(w.c.state().live(), ElementsAre(busy)) << "somebody waits for nodes";
  w.c.finish(waiting, JobState::stopped);
  w.c.knobs.max_validations = 1;
  w.advance(5s);
  EXPECT_EQ(w.c.state().live().size(), 2u) << "the busy one, and one at a time";
  const JobId pair = w.node("node-2").occupants[0].job;
  EXPECT_EQ(w.c.job(pair).spec->node_count, 2) << "two of a leaf test the network between them";
  w.validation_ends("node-2", 0);
  w.validation_ends("node-3", 0);
  w.advance(2s);
  EXPECT_THAT(w.node("node-2").occupants, IsEmpty());
  EXPECT_FALSE(w.node("node-4").occupants.empty());
}

TEST(Schedule, IdleNodesGetALightCheckEachSeventhOfThePeriod) {
  HealthWorld w(cluster(nodes(1, gpus(8))));
  w.c.advance(w.c.knobs.validate_period / 7);
  w.advance(2s);
  ASSERT_FALSE(w.node("node-1").occupants.empty());
  EXPECT_EQ(w.c.job(w.node("node-1").occupants[0].job).spec->parameters, "--quick");
  w.validation_ends("node-1", 0);
  w.advance(1min);
  EXPECT_THAT(w.node("node-1").occupants, IsEmpty());
}

// Else a node that is idle often would be checked each day and validated never.
TEST(Schedule, ALightCheckDoesNotPutTheFullOneOff) {
  HealthWorld w(cluster(nodes(1, gpus(8))));
  const Duration period = w.c.knobs.validate_period;
  w.c.advance(period - 1h);
  w.advance(2s);
  w.validation_ends("node-1", 0);
  w.advance(2s);
  ASSERT_THAT(w.node("node-1").occupants, IsEmpty());
  w.c.advance(1h);
  w.advance(2s);
  ASSERT_FALSE(w.node("node-1").occupants.empty());
  EXPECT_EQ(w.c.job(w.node("node-1").occupants[0].job).spec->parameters, "");
}

TEST(Schedule, ANodeThatIsNeverFreeIsTakenOutWhenItIsOverdue) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  w.c.run(hai::test::job("busy"), {"node-1"});
  w.c.advance(w.c.knobs.validate_period + w.c.knobs.validate_deadline);
  w.advance(2s);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::cordoned);
  EXPECT_THAT(w.node("node-1").scheduling_reason, HasSubstr("overdue"));
}

// Nodes that were registered together are due together: were all of them taken out, nothing could
// start anywhere until the last of their jobs has ended.
TEST(Schedule, AFullClusterThatIsDueAsAWholeIsTakenOutBitByBit) {
  HealthWorld w(cluster(nodes(30, gpus(8))));
  w.c.knobs.max_validations = 2;
  for (int i = 1; i <= 30; ++i) {
    w.c.run(hai::test::job(fmt::format("busy-{}", i)), {fmt::format("node-{}", i)});
  }
  w.c.advance(w.c.knobs.validate_period + w.c.knobs.validate_deadline);
  w.advance(30s);
  const auto cordoned = std::ranges::count_if(w.c.state().nodes(), [](const auto& entry) {
    return entry.second.scheduling == Scheduling::cordoned;
  });
  EXPECT_EQ(cordoned, 8) << "four times as many as are validated at a time";
  EXPECT_THAT(w.incidents(kNodeFault), IsEmpty()) << "that a week has passed is no news";
  w.c.finish(w.node("node-1").occupants[0].job);
  w.advance(3s);
  ASSERT_EQ(w.repair("node-1").step, RepairStep::validating);
  w.validation_ends("node-1", 0);
  w.advance(3s);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open);
  EXPECT_EQ(w.repair("node-9").step, RepairStep::emptying) << "the next one's turn";
}

TEST(Schedule, AnOverdueNodeThatCannotBeMendedOpensAnIncident) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  w.c.knobs.repair_rounds = 0;
  const JobId busy = w.c.run(hai::test::job("busy"), {"node-1"});
  w.c.advance(w.c.knobs.validate_period + w.c.knobs.validate_deadline);
  w.advance(2s);
  w.c.finish(busy);
  w.advance(3s);
  w.validation_ends("node-1", 1);
  w.advance(3s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::service);
  EXPECT_THAT(w.incidents(kNodeFault), Contains("node/node-1"));
}

TEST(Hang, NeedsAllRanksSilentAndASecondSourceAndNamesWhoStoppedFirst) {
  HealthWorld w(cluster(nodes(4, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j").nodes(2), {"node-1", "node-2"});
  const auto rank = [&](int index, int64_t step, std::vector<RankSign> signs) {
    RankStatus status = running({job, 1, index});
    status.progress_step = step;
    status.signs = std::move(signs);
    status.word_at = w.c.now - 40min;
    return status;
  };
  const RankSign silent{HangSignKind::no_progress, w.c.now - 40min};
  const RankSign idle{HangSignKind::gpu_idle, w.c.now - 10min};
  w.report("node-1", {}, {rank(0, 120, {silent})});
  w.report("node-2", {}, {rank(1, 117, {})});
  w.advance(2s);
  EXPECT_FALSE(w.c.attempt(job).end) << "one rank talks";
  w.report("node-2", {}, {rank(1, 117, {silent})});
  w.advance(2s);
  EXPECT_FALSE(w.c.attempt(job).end) << "words alone are one source";
  w.report("node-1", {}, {rank(0, 120, {silent, idle})});
  w.advance(2s);
  ASSERT_TRUE(w.c.attempt(job).end);
  EXPECT_TRUE(w.c.attempt(job).end->take_evidence);
  EXPECT_TRUE(w.c.attempt(job).end->infrastructure);
  EXPECT_THAT(w.c.attempt(job).end->suspects, ElementsAre(w.c.node_id("node-2")));
  EXPECT_THAT(w.c.attempt(job).end->reason, HasSubstr("rank 1 on node-2 stopped first"));
  EXPECT_THAT(w.incidents(kHang), ElementsAre(fmt::format("job/{}", job.value)));
  w.report("node-1", {}, {exited({job, 1, 0}, ExitCause::killed, 137)});
  w.report("node-2", {}, {exited({job, 1, 1}, ExitCause::killed, 137)});
  w.advance(2s);
  EXPECT_EQ(w.c.job(job).state, JobState::suspended);
  EXPECT_THAT(w.c.job(job).avoid, ElementsAre(w.c.node_id("node-2")));
  EXPECT_THAT(w.incidents(kHang), IsEmpty());
  EXPECT_THAT(w.marks("node-2"), ElementsAre("gang_failed hang"));
}

// Answers each group test as if this node broke whatever it takes part in.
void run_bisection(HealthWorld& w, const std::string& bad, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    w.advance(3s);
    const std::vector<JobId> live(w.c.state().live().begin(), w.c.state().live().end());
    for (JobId id : live) {
      const Placement placement = [&] {
        Placement out;
        for (const Rank& rank : w.c.attempt(id).ranks) out.push_back(rank.place);
        return out;
      }();
      bool fails = false;
      for (const RankPlacement& place : placement) {
        fails |= w.c.state().find(place.node)->facts.name == bad;
      }
      for (size_t rank = 0; rank < placement.size(); ++rank) {
        const std::string name = w.c.state().find(placement[rank].node)->facts.name;
        w.report(name, {}, {exited({id, 1, static_cast<int>(rank)}, ExitCause::program, fails)});
      }
    }
  }
}

TEST(Bisection, NamesTheNodeThatFailsWithOthersAndLetsTheOthersGo) {
  HealthWorld w(cluster(nodes(8, gpus(8))));
  const JobId job = w.c.run(hai::test::job("j").nodes(8), {"node-1", "node-2", "node-3", "node-4",
                                                           "node-5", "node-6", "node-7", "node-8"});
  std::vector<NodeId> all;
  for (const auto& [id, node] : w.c.state().nodes()) all.push_back(id);
  w.c.decide_with([&](Decision& decision) { begin_bisection(decision, all, "they hung"); });
  w.advance(5s);
  EXPECT_EQ(w.c.state().live().size(), 1u) << "it begins when they are empty";
  w.c.finish(job);
  run_bisection(w, "node-6", 1);
  EXPECT_EQ(w.node("node-6").scheduling, Scheduling::cordoned);
  run_bisection(w, "node-6", 10);
  for (int i = 1; i <= 8; ++i) {
    const std::string name = fmt::format("node-{}", i);
    EXPECT_EQ(w.node(name).scheduling, i == 6 ? Scheduling::drained : Scheduling::open) << name;
  }
  EXPECT_EQ(w.repair("node-6").step, RepairStep::service);
  EXPECT_THAT(w.marks("node-6"), Contains("validation_failed bisection"));
  EXPECT_THAT(w.incidents(kBisection), IsEmpty());
  EXPECT_THAT(w.incidents(kNodeFault), ElementsAre("node/node-6"));
}

TEST(Bisection, ANewLeaderBeginsAnew) {
  HealthWorld w(cluster(nodes(4, gpus(8))));
  ASSERT_TRUE(w.c.decide(BisectNodes{{"node-1", "node-2", "node-3", "node-4"}}).is_ok());
  run_bisection(w, "node-2", 1);
  w.sessions.bisections.clear();
  run_bisection(w, "node-2", 10);
  EXPECT_EQ(w.repair("node-2").step, RepairStep::service);
  for (const std::string name : {"node-1", "node-3", "node-4"}) {
    EXPECT_EQ(w.node(name).scheduling, Scheduling::open) << name;
  }
}

TEST(Bisection, IsForOperatorsAndForNodesThatTakeJobs) {
  HealthWorld w(cluster(nodes(3, gpus(8))));
  w.c.add_user("bob");
  EXPECT_EQ(w.c.decide(BisectNodes{{"node-1", "node-2"}}, "bob").status().code(),
            Code::permission_denied);
  EXPECT_EQ(w.c.decide(BisectNodes{{"node-1"}}).status().code(), Code::invalid_argument);
  EXPECT_EQ(w.c.decide(BisectNodes{{"node-1", "node-9"}}).status().code(), Code::not_found);
  ASSERT_TRUE(w.c.decide(CordonNode{"node-2", "mine"}).is_ok());
  EXPECT_EQ(w.c.decide(BisectNodes{{"node-1", "node-2"}}).status().code(),
            Code::failed_precondition);
}

TEST(Incidents, AreClosedByOperatorsOnce) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  w.c.add_user("bob");
  w.report("node-1", {failing("gpu_xid", T::validate, "gpu 3")});
  const int64_t id = w.c.state().last_incident().value;
  EXPECT_THAT(notes_of(w), IsEmpty());
  EXPECT_EQ(w.c.decide(CloseIncident{id, ""}, "bob").status().code(), Code::permission_denied);
  EXPECT_EQ(w.c.decide(CloseIncident{id + 1, ""}).status().code(), Code::not_found);
  EXPECT_TRUE(w.c.decide(CloseIncident{id, "seen"}).is_ok());
  EXPECT_EQ(w.c.decide(CloseIncident{id, ""}).status().code(), Code::failed_precondition);
  w.advance(10s);  // and the ladder goes on without it
  EXPECT_EQ(w.repair("node-1").step, RepairStep::validating);
}

}  // namespace
}  // namespace hai::test
