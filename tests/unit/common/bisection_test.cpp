#include "common/bisection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

namespace hai {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Names = std::vector<std::string>;
using RunGroup = std::function<GroupVerdict(const Names&)>;

Names names(int count) {
  Names result;
  for (int i = 1; i <= count; ++i) result.push_back((i < 10 ? "n0" : "n") + std::to_string(i));
  return result;
}

RunGroup fails_with(std::set<std::string> bad) {
  return [bad](const Names& group) {
    return std::any_of(group.begin(), group.end(), [&](auto& name) { return bad.contains(name); })
               ? GroupVerdict::failed
               : GroupVerdict::passed;
  };
}

struct Finish {
  BisectionStep last;
  int rounds = 0;
};

Finish finish(BisectionQuestion question, const RunGroup& run_group) {
  while (true) {
    const BisectionStep step = next_step(question);
    if (step.groups.empty()) return {step, static_cast<int>(question.rounds.size())};
    std::vector<GroupTest> round;
    for (const Names& group : step.groups) round.push_back({group, run_group(group)});
    question.rounds.push_back(round);
  }
}

TEST(Bisection, StartsWithPairs) {
  EXPECT_THAT(next_step({.nodes = names(5)}).groups,
              ElementsAre(Names{"n01", "n02"}, Names{"n03", "n04"}));
  EXPECT_THAT(next_step({.nodes = names(5), .spares = {"s"}}).groups,
              ElementsAre(Names{"n01", "s"}, Names{"n02", "n03"}, Names{"n04", "n05"}));
}

TEST(Bisection, PairsThoseWhoHaveNotMetYet) {
  const auto unknown = GroupVerdict::unknown;
  EXPECT_THAT(next_step({.nodes = names(4),
                         .rounds = {{{{"n01", "n02"}, unknown}, {{"n03", "n04"}, unknown}}}})
                  .groups,
              ElementsAre(Names{"n01", "n03"}, Names{"n02", "n04"}));
}

TEST(Bisection, FindsOneOfFour) {
  const Finish end = finish({.nodes = names(4)}, fails_with({"n03"}));
  EXPECT_THAT(end.last.bad, ElementsAre("n03"));
  EXPECT_THAT(end.last.good, ElementsAre("n01", "n02", "n04"));
  EXPECT_THAT(end.last.unclear, IsEmpty());
  EXPECT_THAT(end.last.unexplained, IsEmpty());
  EXPECT_EQ(end.rounds, 3);
  EXPECT_EQ(end.last.summary, "3 rounds: bad n03");
}

TEST(Bisection, FindsNothingWhereNothingIs) {
  const Finish end = finish({.nodes = names(8)}, fails_with({}));
  EXPECT_THAT(end.last.bad, IsEmpty());
  EXPECT_EQ(end.last.good.size(), 8u);
  EXPECT_EQ(end.rounds, 2);
}

TEST(Bisection, CannotTellTwoNodesApartByThemselves) {
  const Finish end = finish({.nodes = names(2)}, fails_with({"n02"}));
  EXPECT_THAT(end.last.bad, IsEmpty());
  EXPECT_THAT(end.last.unclear, ElementsAre("n01", "n02"));
  EXPECT_LE(end.rounds, 10);
  const Finish with_spare = finish({.nodes = names(2), .spares = {"s"}}, fails_with({"n02"}));
  EXPECT_THAT(with_spare.last.bad, ElementsAre("n02"));
  EXPECT_THAT(with_spare.last.good, ElementsAre("n01"));
}

// Each node works, but these two don't work together: a cable or a switch, and no node's fault.
TEST(Bisection, BlamesNoNodeForALink) {
  const Finish end = finish({.nodes = names(6)}, [](const Names& group) {
    return std::set<std::string>(group.begin(), group.end()) == std::set<std::string>{"n03", "n04"}
               ? GroupVerdict::failed
               : GroupVerdict::passed;
  });
  EXPECT_THAT(end.last.bad, IsEmpty());
  EXPECT_EQ(end.last.good.size(), 6u);
  EXPECT_THAT(end.last.unexplained, ElementsAre(Names{"n03", "n04"}));
  EXPECT_EQ(end.last.summary, "4 rounds: no bad node; failed without a bad node n03+n04");
}

TEST(Bisection, EndsThoughNoTestEverRuns) {
  const Finish end =
      finish({.nodes = names(4)}, [](const Names&) { return GroupVerdict::unknown; });
  EXPECT_EQ(end.rounds, 10);
  EXPECT_EQ(end.last.unclear.size(), 4u);
}

TEST(Bisection, IgnoresResultsOfNodesThatAreNotAsked) {
  const BisectionStep step =
      next_step({.nodes = names(2),
                 .rounds = {{{.nodes = {"n01", "x"}, .verdict = GroupVerdict::failed},
                             {.nodes = {"n02"}, .verdict = GroupVerdict::failed}}}});
  EXPECT_THAT(step.unexplained, IsEmpty());
  EXPECT_THAT(next_step({}).groups, IsEmpty());
  EXPECT_THAT(next_step({.nodes = {"only"}}).unclear, ElementsAre("only"));
}

}  // namespace
}  // namespace hai
