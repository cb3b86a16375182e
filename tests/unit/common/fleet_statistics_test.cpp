#include "common/fleet_statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hai {
namespace {

std::vector<FleetSample> fleet(std::vector<double> values) {
  std::vector<FleetSample> samples;
  for (const double value : values)
    samples.push_back({.node = "n" + std::to_string(samples.size()), .value = value});
  return samples;
}

FleetVerdict judge(const std::vector<FleetSample>& past, double value, bool higher_is_better,
                   std::string_view node = "new") {
  return judge_by_fleet(
             {.node = node, .value = value, .higher_is_better = higher_is_better, .past = past})
      .verdict;
}

TEST(FleetStatistics, JudgesTheBadSideOnly) {
  const auto past = fleet({98, 99, 99, 100, 100, 100, 100, 101, 101, 102, 98, 102});
  struct Case {
    double value;
    bool higher_is_better;
    FleetVerdict verdict;
  };
  for (const Case& c : {Case{100, true, FleetVerdict::ok}, Case{97, true, FleetVerdict::ok},
                        Case{85, true, FleetVerdict::worse}, Case{150, true, FleetVerdict::ok},
                        Case{0, true, FleetVerdict::worse}, Case{115, false, FleetVerdict::worse},
                        Case{50, false, FleetVerdict::ok}}) {
    EXPECT_EQ(judge(past, c.value, c.higher_is_better), c.verdict)
        << c.value << " " << c.higher_is_better;
  }
}

TEST(FleetStatistics, SaysTooFewBeforeItJudges) {
  const auto past = fleet({100, 100, 100, 100, 100, 100, 100, 100, 100});
  const FleetJudgement judgement = judge_by_fleet({.node = "new", .value = 1, .past = past});
  EXPECT_EQ(judgement.verdict, FleetVerdict::too_few);
  EXPECT_EQ(judgement.summary, "1: too few to compare, 9 other nodes");
  EXPECT_EQ(judge({}, 1, true), FleetVerdict::too_few);
}

TEST(FleetStatistics, SaysTheNumbers) {
  const auto past = fleet({8, 8, 8, 8, 8, 8, 8, 8, 8, 8});
  EXPECT_EQ(judge_by_fleet({.node = "new", .value = 7, .past = past}).summary,
            "7, median of 10 other nodes 8, lower limit 7.76");
}

// Eight ports, or sixteen PCIe lanes, everywhere: the deviation is nothing, and one less is worse.
TEST(FleetStatistics, JudgesValuesThatAreAllEqual) {
  const auto past = fleet(std::vector<double>(20, 8));
  EXPECT_EQ(judge(past, 8, true), FleetVerdict::ok);
  EXPECT_EQ(judge(past, 7.9, true), FleetVerdict::ok) << "1 % is worth no verdict";
  EXPECT_EQ(judge(past, 7, true), FleetVerdict::worse);
}

TEST(FleetStatistics, CountsANodeOnceAndNotForItself) {
  std::vector<FleetSample> past = fleet(std::vector<double>(10, 100));
  for (int i = 0; i < 1000; ++i) past.push_back({.node = "slow", .value = 50});
  EXPECT_EQ(judge(past, 50, true, "slow"), FleetVerdict::worse);
  EXPECT_EQ(judge(past, 100, true, "new"), FleetVerdict::ok);
  EXPECT_EQ(judge_by_fleet({.node = "new", .value = 100, .past = past}).nodes, 11);
  EXPECT_EQ(judge_by_fleet({.node = "slow", .value = 50, .past = past}).nodes, 10);
}

TEST(FleetStatistics, CallsAKindOfItsOwnNoFault) {
  std::vector<double> values(40, 200);
  for (int i = 0; i < 10; ++i) values.push_back(160 + i * 0.1);  // every fifth has slower memory
  const auto past = fleet(values);
  EXPECT_EQ(judge(past, 160, true), FleetVerdict::minority);
  EXPECT_EQ(judge(past, 200, true), FleetVerdict::ok);
  EXPECT_EQ(judge(past, 140, true), FleetVerdict::worse) << "slower than the slow kind";
}

TEST(FleetStatistics, TakesNoNumberForTheWorst) {
  const double nan = std::nan("");
  std::vector<double> values(12, 100);
  values.push_back(nan);
  values.push_back(std::numeric_limits<double>::infinity());
  const auto past = fleet(values);
  EXPECT_EQ(judge(past, nan, true), FleetVerdict::worse);
  EXPECT_EQ(judge(past, 100, true), FleetVerdict::ok);
  EXPECT_EQ(judge_by_fleet({.node = "new", .value = 100, .past = past}).nodes, 12);
}

}  // namespace
}  // namespace hai
