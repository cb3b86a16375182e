#include "agent/fleet/rank_program.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

RankProgram program(const std::string& entrypoint, const std::string& parameters) {
  LaunchRank order;
  order.entrypoint = entrypoint;
  order.parameters = parameters;
  return program_of(order, 42s);
}

TEST(RankProgram, SleepsAsLongAsSleepWould) {
  EXPECT_EQ(program("/bin/sleep", "5"), (RankProgram{5s}));
  EXPECT_EQ(program("sleep", "0.25"), (RankProgram{250ms}));
  EXPECT_EQ(program("sleep", "1m 2s"), (RankProgram{62s}));
  EXPECT_EQ(program("sleep", "2h"), (RankProgram{2h}));
}

TEST(RankProgram, FailsWhereSleepFails) {
  for (const char* parameters : {"", "soon", "5 x", "-1", "1y", "nan", "'5"}) {
    EXPECT_EQ(program("sleep", parameters), (RankProgram{0s, 1})) << parameters;
  }
}

TEST(RankProgram, KnowsTrueAndFalse) {
  EXPECT_EQ(program("/usr/bin/true", "5"), (RankProgram{0s}));
  EXPECT_EQ(program("false", ""), (RankProgram{0s, 1}));
}

TEST(RankProgram, AValidationEndsWhateverTheFleetWasTold) {
  LaunchRank order;
  order.entrypoint = "hai-validator";
  order.is_validation = true;
  EXPECT_EQ(program_of(order, std::nullopt), (RankProgram{.length = 1s}));
}

TEST(RankProgram, OthersTakeWhatTheFleetWasTold) {
  EXPECT_EQ(program("train.py", "--config 7b.yaml"), (RankProgram{42s}));
  EXPECT_EQ(program("/opt/sleep/train", "5"), (RankProgram{42s}));
  EXPECT_EQ(program_of(LaunchRank{}, std::nullopt), (RankProgram{}));
}

}  // namespace
}  // namespace hai
