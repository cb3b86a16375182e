// Whatever the number of nodes and whichever are bad: the bad ones are found and no others blamed,
// in a bounded number of rounds, with tests that can be trusted and with some that can't.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "common/bisection.h"
#include "common/rng.h"
#include "tests/property/seeds.h"

namespace hai {
namespace {

using Names = std::vector<std::string>;
using RunGroup = std::function<GroupVerdict(const Names&)>;

Names names(int count) {
  Names result;
  for (int i = 0; i < count; ++i) result.push_back(fmt::format("n{:02}", i));
  return result;
}

struct Finish {
  BisectionStep last;
  size_t rounds = 0;
};

void expect_sound(const BisectionStep& step) {
  std::set<std::string> seen;
  for (const Names& group : step.groups) {
    EXPECT_EQ(group.size(), 2u);
    for (const std::string& name : group) {
      EXPECT_TRUE(seen.insert(name).second) << name << " is in two groups";
      EXPECT_EQ(std::count(step.bad.begin(), step.bad.end(), name), 0) << name << " is known bad";
    }
  }
}

Finish finish(BisectionQuestion question, const RunGroup& run_group) {
  const size_t nodes = question.nodes.size();
  while (true) {
    const BisectionStep step = next_step(question);
    expect_sound(step);
    EXPECT_EQ(step.bad.size() + step.good.size() + step.unclear.size(), nodes);
    if (step.groups.empty() || question.rounds.size() > 20) return {step, question.rounds.size()};
    std::vector<GroupTest> round;
    for (const Names& group : step.groups) round.push_back({group, run_group(group)});
    question.rounds.push_back(round);
  }
}

bool holds(const Names& group, const std::string& name) {
  return std::find(group.begin(), group.end(), name) != group.end();
}

RunGroup reliable(const Names& bad) {
  return [bad](const Names& group) {
    return std::any_of(bad.begin(), bad.end(), [&](const auto& name) { return holds(group, name); })
               ? GroupVerdict::failed
               : GroupVerdict::passed;
  };
}

TEST(BisectionProperty, FindsAnyOneOfAnyNumber) {
  for (int count = 3; count <= 64; ++count) {
    const Names nodes = names(count);
    for (const std::string& bad : nodes) {
      const Finish end = finish({.nodes = nodes}, reliable({bad}));
      ASSERT_EQ(end.last.bad, Names{bad}) << count << " nodes: " << end.last.summary;
      ASSERT_EQ(end.last.good.size(), nodes.size() - 1) << count << ": " << end.last.summary;
      ASSERT_LE(end.rounds, count == 3 ? 6u : 5u) << count << " nodes, bad " << bad;
    }
  }
}

TEST(BisectionProperty, FindsAnyTwoOfAnyNumber) {
  size_t rounds_most = 0;
  for (int count = 4; count <= 64; ++count) {
    const Names nodes = names(count);
    for (int a = 0; a < count; ++a) {
      for (int b = a + 1; b<count; b += count> 24 ? 5 : 1) {
        const Finish end = finish({.nodes = nodes}, reliable({nodes[a], nodes[b]}));
        ASSERT_EQ(end.last.bad, (Names{nodes[a], nodes[b]})) << count << ": " << end.last.summary;
        ASSERT_TRUE(end.last.unclear.empty()) << count << ": " << end.last.summary;
        rounds_most = std::max(rounds_most, end.rounds);
      }
    }
  }
  EXPECT_LE(rounds_most, 8u);
}

TEST(BisectionProperty, BlamesNobodyWhereNothingIsWrong) {
  for (int count = 2; count <= 64; ++count) {
    const Finish end = finish({.nodes = names(count)}, reliable({}));
    EXPECT_TRUE(end.last.bad.empty() && end.last.unclear.empty()) << end.last.summary;
    EXPECT_LE(end.rounds, 3u) << count;
  }
}

// With one good spare even a job all of whose nodes are bad is seen through.
TEST(BisectionProperty, SpareTellsEveryBadNode) {
  for (int count = 1; count <= 6; ++count) {
    const Names nodes = names(count);
    for (uint64_t mask = 0; mask < (uint64_t{1} << count); ++mask) {
      Names bad;
      for (int i = 0; i < count; ++i) {
        if (mask >> i & 1) bad.push_back(nodes[i]);
      }
      BisectionQuestion question{.nodes = nodes, .spares = {"spare-1", "spare-2"}};
      const Finish end = finish(question, reliable(bad));
      for (const std::string& name : end.last.bad) EXPECT_TRUE(holds(bad, name)) << name;
      if (count <= 4) {
        EXPECT_EQ(end.last.bad, bad) << end.last.summary;
      }
    }
  }
}

// Tests that fail by chance every 25th time, a bad node that passes every third time, and some
// tests that never ran.
TEST(BisectionProperty, LivesWithUnreliableTests) {
  int runs = 0, found = 0, blamed = 0;
  test::Seeds seeds(2'000);
  for (uint64_t seed : seeds) {
    Rng rng(seed);
    const Names nodes = names(static_cast<int>(rng.between(3, 64)));
    const std::string bad = rng.chance(0.8) ? nodes[rng.below(nodes.size())] : "";
    const Finish end = finish({.nodes = nodes}, [&](const Names& group) {
      if (rng.chance(0.02)) return GroupVerdict::unknown;
      const bool fails = rng.chance(holds(group, bad) ? 0.67 : 0.04);
      return fails ? GroupVerdict::failed : GroupVerdict::passed;
    });
    EXPECT_LE(end.rounds, 10u) << seed;
    ++runs;
    // Found, or at least not let go of: a node that is unclear gets a test of its own.
    if (bad.empty() || holds(end.last.bad, bad) || holds(end.last.unclear, bad)) ++found;
    for (const std::string& name : end.last.bad) blamed += name != bad;
  }
  EXPECT_GE(found, runs * 80 / 100);
  EXPECT_LE(blamed, runs * 2 / 100);
  RecordProperty("found", found);
  RecordProperty("blamed", blamed);
  printf("%d runs: %d found, %d good nodes blamed\n", runs, found, blamed);
}

TEST(BisectionProperty, SameResultsGiveTheSameStep) {
  Rng rng(test::first_seed() + 6);
  const Names nodes = names(33);
  BisectionQuestion question{.nodes = nodes};
  for (int round = 0; round < 5; ++round) {
    const BisectionStep first = next_step(question);
    EXPECT_EQ(first.groups, next_step(question).groups);
    std::vector<GroupTest> results;
    for (const Names& group : first.groups)
      results.push_back({group, rng.chance(0.3) ? GroupVerdict::failed : GroupVerdict::passed});
    question.rounds.push_back(results);
    // Results may come in any order.
    BisectionQuestion shuffled = question;
    rng.shuffle(shuffled.rounds.back());
    EXPECT_EQ(next_step(question).groups, next_step(shuffled).groups);
  }
}

}  // namespace
}  // namespace hai
