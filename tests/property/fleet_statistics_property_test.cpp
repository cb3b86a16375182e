// Healthy nodes are left alone, whatever shape their metric has, and nodes that are 10 % slow are
// found where the metric is quiet enough to show it.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "common/fleet_statistics.h"
#include "common/rng.h"
#include "tests/property/seeds.h"

namespace hai {
namespace {

using Draw = std::function<double(Rng&)>;

double normal(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.unit())) * std::cos(2 * std::numbers::pi * rng.unit());
}
double exponential(Rng& rng) { return -std::log(1 - rng.unit()); }
double student3(Rng& rng) {
  double squares = 0;
  for (int i = 0; i < 3; ++i) squares += std::pow(normal(rng), 2);
  return normal(rng) / std::sqrt(squares / 3);
}

std::vector<FleetSample> fleet(Rng& rng, int nodes, const Draw& draw) {
  std::vector<FleetSample> samples;
  for (int i = 0; i < nodes; ++i)
    samples.push_back({.node = "n" + std::to_string(i), .value = draw(rng)});
  return samples;
}

// The share of runs in which a node whose value comes from `draw` is called worse than the fleet.
double share_blamed(int nodes, const Draw& healthy, const Draw& draw, bool higher_is_better) {
  constexpr int kRuns = 4'000;
  int blamed = 0;
  Rng rng(test::first_seed() - 1 + static_cast<uint64_t>(nodes));
  for (int i = 0; i < kRuns; ++i) {
    const auto past = fleet(rng, nodes, healthy);
    blamed +=
        judge_by_fleet(
            {.node = "new", .value = draw(rng), .higher_is_better = higher_is_better, .past = past})
            .verdict == FleetVerdict::worse;
  }
  return static_cast<double>(blamed) / kRuns;
}

TEST(FleetStatisticsProperty, BlamesFewerThanOneHealthyNodeInAHundred) {
  const std::pair<const char*, Draw> shapes[] = {
      {"normal, 1 %", [](Rng& rng) { return 100 + normal(rng); }},
      {"normal, 10 %", [](Rng& rng) { return 100 + 10 * normal(rng); }},
      {"Laplace, long tails",
       [](Rng& rng) { return 100 + (rng.chance(0.5) ? 3 : -3) * exponential(rng); }},
      {"Student's t of 3, longer tails", [](Rng& rng) { return 100 + 3 * student3(rng); }},
      {"a tail to the slow side only", [](Rng& rng) { return 100 - 3 * exponential(rng); }},
      {"log-normal", [](Rng& rng) { return 100 * std::exp(0.1 * normal(rng)); }},
      {"whole numbers", [](Rng& rng) { return std::round(100 + normal(rng)); }},
      {"all the same", [](Rng&) { return 8; }},
  };
  for (const auto& [name, draw] : shapes) {
    for (const int nodes : {12, 40, 150}) {
      EXPECT_LT(share_blamed(nodes, draw, draw, true), 0.01) << name << ", " << nodes << " nodes";
      EXPECT_LT(share_blamed(nodes, draw, draw, false), 0.01)
          << name << ", " << nodes << " nodes, lower is better";
    }
  }
}

// Among few nodes a few slow ones can't be told from faults.
TEST(FleetStatisticsProperty, BlamesNoMinority) {
  for (const double share : {0.2, 0.3, 0.5}) {
    const Draw draw = [share](Rng& rng) { return (rng.chance(share) ? 80 : 100) + normal(rng); };
    EXPECT_LT(share_blamed(150, draw, draw, true), 0.01) << share;
  }
}

TEST(FleetStatisticsProperty, FindsNodesThatAreTenPercentSlow) {
  const Draw healthy = [](Rng& rng) { return 100 + normal(rng); };
  const Draw slow = [](Rng& rng) { return 0.9 * (100 + normal(rng)); };
  const Draw late = [](Rng& rng) { return 1.1 * (100 + normal(rng)); };
  EXPECT_GT(share_blamed(150, healthy, slow, true), 0.99);
  EXPECT_GT(share_blamed(150, healthy, late, false), 0.99);
  EXPECT_GT(share_blamed(40, healthy, slow, true), 0.95);
  EXPECT_GT(share_blamed(12, healthy, slow, true), 0.75);
}

// One in twenty of the past values is of a slow node itself: they must not hide each other.
TEST(FleetStatisticsProperty, FindsSlowNodesAmongOthers) {
  const Draw mixed = [](Rng& rng) { return (rng.chance(0.05) ? 90 : 100) + normal(rng); };
  const Draw slow = [](Rng& rng) { return 90 + normal(rng); };
  const Draw healthy = [](Rng& rng) { return 100 + normal(rng); };
  EXPECT_GT(share_blamed(150, mixed, slow, true), 0.95);
  EXPECT_LT(share_blamed(150, mixed, healthy, true), 0.01);
}

}  // namespace
}  // namespace hai
