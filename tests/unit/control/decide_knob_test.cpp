// Knobs that change while the cluster runs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/builders.h"
#include "tests/unit/control/controller_world.h"

namespace hai::test {
namespace {

using testing::HasSubstr;

TEST(Knob, IsSetByAdminsWithinItsRange) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.add_user("olga", {}, Role::operator_);
  EXPECT_EQ(c.decide(SetKnob{"min_quantum", "5m", ""}, "olga").status().code(),
            Code::permission_denied);
  EXPECT_EQ(c.decide(SetKnob{"min_quantum", "-5m", ""}).status().code(), Code::invalid_argument);
  EXPECT_THAT(std::string(c.decide(SetKnob{"min_quantm", "5m", ""}).status().message()),
              HasSubstr("did you mean min_quantum?"));
  EXPECT_TRUE(c.state().knobs().empty());
  ASSERT_TRUE(c.decide(SetKnob{"min_quantum", "300s", "short jobs"}).is_ok());
  const KnobSetting& setting = c.state().knobs().at("min_quantum");
  EXPECT_EQ(setting.value, "5m");
  EXPECT_EQ(setting.by, "ann");
  EXPECT_EQ(setting.reason, "short jobs");
  EXPECT_EQ(setting.set_at, c.now);
}

TEST(Knob, OfALeaseIsLeftToTheConfig) {
  Cluster c = cluster(nodes(1, gpus(8)));
  for (const char* name :
       {"heartbeat", "agent_lease", "down_after", "server_lease", "resend_after", "launch_timeout",
        "plan_period", "append_batch_max", "finished_jobs_kept"}) {
    EXPECT_EQ(c.decide(SetKnob{name, "20s", ""}).status().code(), Code::failed_precondition)
        << name;
    EXPECT_EQ(c.decide(UnsetKnob{name, ""}).status().code(), Code::failed_precondition) << name;
  }
}

TEST(Knob, ThatNobodySetIsNotUnset) {
  Cluster c = cluster(nodes(1, gpus(8)));
  EXPECT_EQ(c.decide(UnsetKnob{"min_quantum", "", "30m"}).status().code(),
            Code::failed_precondition);
  EXPECT_EQ(c.decide(UnsetKnob{"nonsense", ""}).status().code(), Code::invalid_argument);
}

TEST(Knob, HoldsFromItsEventOnAndForTheNextLeader) {
  ControllerWorld w;
  auto first = w.leader("a");
  const auto set = send(*first, SetKnob{"min_quantum", "5m", "why not"});
  w.run(1s);
  ASSERT_TRUE(set->is_ok());
  EXPECT_EQ(first->controller.knobs().min_quantum, 5min);
  EXPECT_EQ(first->controller.config_knobs().min_quantum, Knobs().min_quantum);
  first->controller.stop([] {});
  w.run(1s);
  w.knobs.min_quantum = 7min;  // its config
  auto second = w.leader("b");
  EXPECT_EQ(second->controller.knobs().min_quantum, 5min);
  const auto unset = send(*second, UnsetKnob{"min_quantum", "", "forged"});
  w.run(1s);
  ASSERT_TRUE(unset->is_ok());
  EXPECT_EQ(second->controller.knobs().min_quantum, 7min);
}

TEST(Knob, SeesTheOneThatWasSetJustBefore) {
  ControllerWorld w;
  auto server = w.leader("a");
  const auto first = send(*server, SetKnob{"max_requeues", "1", ""});
  const auto second = send(*server, SetKnob{"plan_gap", "0s", ""});
  w.run(1s);
  ASSERT_TRUE(first->is_ok());
  ASSERT_TRUE(second->is_ok());
  EXPECT_EQ(server->controller.knobs().max_requeues, 1);
  EXPECT_EQ(server->controller.knobs().plan_gap, 0s);
}

TEST(Knob, IsTakenBackWithATermThatCouldNotWriteIt) {
  ControllerWorld w;
  auto server = w.leader("a");
  w.fault = MemFault::fail_before;
  const auto set = send(*server, SetKnob{"min_quantum", "5m", ""});
  w.run(5s);
  EXPECT_FALSE(set->is_ok());
  ASSERT_TRUE(server->controller.is_leading());
  EXPECT_EQ(server->controller.knobs().min_quantum, Knobs().min_quantum);
}

TEST(Knob, OfAnotherVersionCanBeTakenBack) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.emit(KnobSet{{.name = "of_tomorrow", .value = "7"}});
  EXPECT_EQ(c.decide(SetKnob{"of_tomorrow", "8", ""}).status().code(), Code::invalid_argument);
  ASSERT_TRUE(c.decide(UnsetKnob{"of_tomorrow", ""}).is_ok());
  EXPECT_TRUE(c.state().knobs().empty());
}

}  // namespace
}  // namespace hai::test
