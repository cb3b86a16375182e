#include "common/agent_messages.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(AgentMessages, EveryPhaseAndCauseHasItsWord) {
  EXPECT_EQ(to_string(RankPhase::starting), "starting");
  EXPECT_EQ(to_string(RankPhase::running), "running");
  EXPECT_EQ(to_string(RankPhase::exited), "exited");
  const std::string_view kWords[] = {"none",          "program", "go_suspend",
                                     "grace_over",    "killed",  "fenced",
                                     "launch_failed", "lost",    "left"};
  for (size_t i = 0; i < std::size(kWords); ++i) {
    EXPECT_EQ(to_string(static_cast<ExitCause>(i)), kWords[i]);
  }
}

TEST(RankKey, Text) { EXPECT_EQ(to_string(RankKey{JobId{17}, 2, 0}), "17.2.0"); }

}  // namespace
}  // namespace hai
