// The ladder on which a node comes back.

#include "server/control/health/decide_repair.h"

#include "server/control/health/decide_health.h"
#include "server/control/health/decide_validate.h"
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
  EXPECT_EQ(w.node("node-1").health.find("gpu_xid", "gpu 3")->done, FaultAnswer::mended);
  EXPECT_THAT(w.incidents(kNodeFault), IsEmpty());
  const std::vector<OrderBody> orders = w.c.decide_with([&](Decision& decision) {
    return repair_orders(decision.state(), w.c.knobs, w.session("node-1"), w.c.now, w.mono);
  });
  EXPECT_THAT(orders, ElementsAre(OrderBody(ClearFault{"gpu_xid", "gpu 3", w.c.now})));
}

// A row of a site's own kernel_table has a name that only the agent knows: it says what it is.
TEST(Ladder, WhatTheKernelSaidIsValidatedWhateverItsName) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  CheckResult logged = failing("site_fan_alarm", T::validate);
  logged.said_kind = CheckKind{.is_latched = true};
  w.report("node-1", {logged});
  w.report("node-2", {failing("site_fan_alarm", T::validate)});
  w.advance(3s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::validating);
  EXPECT_EQ(w.repair("node-2").step, RepairStep::repairing) << "it is so now";
  EXPECT_EQ(w.repair("node-2").action, RepairAction::reboot);
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
  EXPECT_EQ(w.repair("node-1").action, RepairAction::reset_gpus);
  const auto orders = [&] {
    return repair_orders(w.c.state(), w.c.knobs, w.session("node-1"), w.c.now, w.mono);
  };
  EXPECT_THAT(orders(),
              ElementsAre(OrderBody(RunHook{w.repair("node-1").hook, HookAction::reset_gpus,
                                            w.repair("node-1").reason})));
  EXPECT_THAT(orders(), IsEmpty()) << "not again at once";
  w.hook_ends("node-1", 0);
  w.advance(30s);
  EXPECT_EQ(w.repair("node-1").action, RepairAction::reset_gpus)
      << "the fault has a minute to go away";
  w.advance(40s);
  EXPECT_EQ(w.repair("node-1").action, RepairAction::reboot);
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
  EXPECT_EQ(w.repair("node-1").action, RepairAction::reboot) << "it may name that one";
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

TEST(Ladder, AnotherFaultOfANodeInServiceLeavesItThere) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const CheckResult first = failing("gpu_xid", T::evict, "gpu 3");
  w.report("node-1", {first});
  w.advance(w.c.knobs.hook_timeout + 5s);
  ASSERT_EQ(w.repair("node-1").step, RepairStep::service);
  const std::string reason = w.node("node-1").scheduling_reason;
  ASSERT_THAT(reason, HasSubstr("gpu_xid"));
  w.report("node-1", {first, failing("gpu_nvlink", T::drain, "gpu 4")});
  EXPECT_THAT(w.marks("node-1"), Contains("drain gpu_nvlink")) << "it is written down";
  w.advance(3s);
  EXPECT_EQ(w.repair("node-1").step, RepairStep::service);
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::drained);
  EXPECT_EQ(w.node("node-1").scheduling_reason, reason);
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
  EXPECT_FALSE(w.repair("node-1").job) << "no validation runs now";
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
  EXPECT_FALSE(w.c.attempt(job).end->infrastructure) << "it does not run again";
  w.report("node-1", {}, {exited({job, 1, 0}, ExitCause::killed, 137)});
  EXPECT_EQ(w.c.job(job).state, JobState::stopped);
  w.advance(3s);
  EXPECT_TRUE(w.node("node-1").occupants.empty());
  EXPECT_EQ(w.node("node-1").scheduling, Scheduling::open);
}

TEST(Ladder, LemonsGoToServiceAndComeBackOnlyByAPerson) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  for (int i = 0; i < w.c.knobs.lemon_score / 2; ++i) {
    w.c.emit(NodeMarked{w.c.node_id("node-1"), MarkKind::gang_failed, "lost", JobId{i + 1},
                        fmt::format("user-{}", i)});
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

TEST(Ladder, ScoresTakeOutFewNodesAndNoneForOnePerson) {
  HealthWorld w(cluster(nodes(4, gpus(8))));
  const JobId anns = w.c.submit(job("typo").user("ann"));
  for (const char* node : {"node-1", "node-2", "node-3", "node-4"}) {
    for (int i = 0; i < w.c.knobs.lemon_score; ++i)
      w.c.emit(NodeMarked{w.c.node_id(node), MarkKind::gang_failed, "lost", anns, "ann"});
  }
  w.advance(3s);
  for (const char* node : {"node-1", "node-2", "node-3", "node-4"})
    EXPECT_EQ(w.repair(node).step, RepairStep::none) << node;
  for (const auto& [node, faults] : {std::pair("node-2", 4), std::pair("node-3", 5)}) {
    for (int i = 0; i < faults; ++i)
      w.c.emit(NodeMarked{w.c.node_id(node), MarkKind::drain, "gpu_xid", {}});
  }
  w.advance(3s);
  EXPECT_FALSE(w.repair("node-2").is_lemon) << "one of four is enough at once";
  EXPECT_TRUE(w.repair("node-3").is_lemon) << "and the worst goes first";
}

TEST(Ladder, ScoresTakeOutFewNodesOfALeaf) {
  HealthWorld w(cluster(nodes(20, gpus(8)).leaf("a"), nodes(20, gpus(8)).leaf("b")));
  for (const auto& [node, faults] :
       {std::pair("node-1", 6), std::pair("node-2", 5), std::pair("node-21", 4)}) {
    for (int i = 0; i < faults; ++i)
      w.c.emit(NodeMarked{w.c.node_id(node), MarkKind::drain, "gpu_xid", {}});
  }
  w.advance(3s);
  EXPECT_TRUE(w.repair("node-1").is_lemon);
  EXPECT_FALSE(w.repair("node-2").is_lemon) << "its leaf has lost its share";
  EXPECT_TRUE(w.repair("node-21").is_lemon) << "two of forty may leave";
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

TEST(Schedule, AHeldJobOrAnArrayIsInNobodysWay) {
  HealthWorld w(cluster(nodes(2, gpus(8))));
  const JobId held = w.c.submit(hai::test::job("held"));
  w.c.emit(JobHeld{held, "held by ann"});
  w.c.submit(hai::test::job("later").begin_at(w.c.now + 10'000h));
  const auto submit = [&](const JobBuilder& builder) {
    const auto reply = w.c.decide(SubmitJob{builder.spec(), ""});
    EXPECT_TRUE(reply.is_ok()) << reply.status().message();
    return reply.value().job;
  };
  submit(hai::test::job("after").depends_on("held"));
  const JobId task = w.c.state().find_task({submit(hai::test::job("sweep").array("3")), 3})->id;
  w.c.place(task, w.c.on({"node-2"}));
  w.c.confirm(task);
  w.c.advance(w.c.knobs.validate_period);
  w.advance(2s);
  ASSERT_FALSE(w.node("node-1").occupants.empty());
  EXPECT_TRUE(w.c.job(w.node("node-1").occupants[0].job).spec->is_validation);
}

TEST(Schedule, AValidationInSomebodysWayLeavesWithinSeconds) {
  HealthWorld w(cluster(nodes(1, gpus(8))));
  w.c.advance(w.c.knobs.validate_period);
  w.advance(2s);
  ASSERT_FALSE(w.node("node-1").occupants.empty());
  const JobId validation = w.node("node-1").occupants[0].job;
  w.report("node-1", {});
  ASSERT_EQ(w.c.attempt(validation).state, AttemptState::running);
  const JobId waiting = w.c.submit(hai::test::job("waits"));
  w.c.pass();
  EXPECT_EQ(w.c.attempt(validation).suspended_for, waiting);
  EXPECT_EQ(w.c.attempt(validation).suspend_deadline, w.c.now + 5s);
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
