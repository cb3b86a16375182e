// The victims the planner finds against the best set there is, by trying all: on clusters so small
// that this is possible.

#include <gtest/gtest.h>

#include <cstdio>

#include "common/rng.h"
#include "server/plan/cost.h"
#include "server/plan/pass.h"
#include "server/plan/preempt.h"
#include "tests/property/random_plan_world.h"
#include "tests/property/seeds.h"

namespace hai::test {
namespace {

// A full cluster of low jobs, gangs and shares among them, and one high job that must make room.
Cluster full_cluster(Rng& rng, bool gangs, bool shares) {
  int count = static_cast<int>(rng.between(2, 4));
  Cluster c = cluster(nodes(count, gpus(8)));
  int next = 1;
  for (int i = 0; i < 5; ++i) {
    JobBuilder builder = job(fmt::format("v{}", next)).priority(Priority::low);
    if (gangs && rng.chance(0.5)) builder.nodes(static_cast<int>(rng.between(1, count)));
    if (shares && rng.chance(0.5)) builder.gpus(rng.chance(0.5) ? 4 : 2);
    JobId id = c.submit(builder);
    Plan plan = c.plan();
    if (plan.starts.empty()) {
      c.finish(id, JobState::stopped);
      continue;
    }
    ++next;
    c.pass();
    c.confirm(id);
  }
  c.advance(6h);
  for (JobId id : std::set<JobId>(c.state().live()))
    c.checkpoint(id, Duration(rng.between(0, 3'600'000'000)));
  return c;
}

int64_t cost_of(const Cluster& c, const std::vector<JobId>& victims) {
  int64_t cost = 0;
  for (JobId id : victims) cost += suspend_cost(c.job(id), c.knobs, c.now);
  return cost;
}

std::optional<int64_t> optimum(const Cluster& c, const Demand& demand) {
  std::vector<JobId> live(c.state().live().begin(), c.state().live().end());
  std::optional<int64_t> best;
  for (unsigned set = 0; set < (1u << live.size()); ++set) {
    Capacity capacity(c.state());
    std::vector<JobId> victims;
    for (size_t i = 0; i < live.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      victims.push_back(live[i]);
      for (const Rank& rank : c.attempt(live[i]).holding_ranks())
        capacity.give(rank.place.node, rank.place.gpus);
    }
    if (!place(capacity, demand)) continue;
    int64_t cost = cost_of(c, victims);
    if (!best || cost < *best) best = cost;
  }
  return best;
}

struct Score {
  int cases_least = 0;
  int cases = 0;
  int optimal = 0;
  double worst = 1;
};

Score score(bool gangs, bool shares) {
  Score score;
  Seeds seeds(1'000);
  score.cases_least = seeds.more_than(200);
  for (uint64_t seed : seeds) {
    Rng rng(seed);
    Cluster c = full_cluster(rng, gangs, shares);
    int count = static_cast<int>(c.state().nodes().size());
    JobBuilder builder = job("high").priority(Priority::high);
    builder.nodes(static_cast<int>(rng.between(1, count)));
    if (shares && rng.chance(0.4)) builder.gpus(4);
    JobId id = c.submit(builder);
    TimeSharingPlanner planner(VictimChoice::least_lost_work);
    PlanIndex& index = planner.index_at(c.state(), c.knobs, c.now);
    Capacity& capacity = index.capacity;
    Demand demand = demand_of(capacity, c.job(id), c.knobs, c.now);
    std::optional<int64_t> best = optimum(c, demand);
    if (place(capacity, demand)) continue;
    OpenLists open(index.running, c.knobs, c.now);
    const PreemptContext context{capacity, index.running, open, index.ledger, c.knobs, c.now};
    auto found = preempt(context, demand, {&c.job(id), Priority::high});
    EXPECT_EQ(found.has_value(), best.has_value()) << "seed " << seed;
    if (!found || !best) continue;
    ++score.cases;
    double ratio = static_cast<double>(cost_of(c, found->victims)) / static_cast<double>(*best);
    EXPECT_GE(ratio, 1.0) << "seed " << seed;
    score.optimal += ratio == 1.0;
    if (ratio > score.worst) score.worst = ratio;
  }
  std::printf("  gangs %d shares %d: %d cases, %d optimal, worst %.2f x the optimum\n", gangs,
              shares, score.cases, score.optimal, score.worst);
  return score;
}

TEST(Victims, OfOneNodeEachAreOptimal) {
  Score s = score(false, false);
  EXPECT_GT(s.cases, s.cases_least);
  EXPECT_EQ(s.optimal, s.cases);
}

TEST(Victims, AmongSharesAreNearTheOptimum) {
  Score s = score(false, true);
  EXPECT_GT(s.cases, s.cases_least);
  EXPECT_GE(s.optimal, s.cases * 95 / 100);
  EXPECT_LE(s.worst, 2.0);
}

TEST(Victims, AmongGangsAreNearTheOptimum) {
  Score s = score(true, false);
  EXPECT_GT(s.cases, s.cases_least);
  EXPECT_GE(s.optimal, s.cases * 90 / 100);
  EXPECT_LE(s.worst, 2.0);
}

TEST(Victims, AmongGangsOfSharesAreNearTheOptimum) {
  Score s = score(true, true);
  EXPECT_GT(s.cases, s.cases_least);
  EXPECT_GE(s.optimal, s.cases * 90 / 100);
  EXPECT_LE(s.worst, 2.5);
}

}  // namespace
}  // namespace hai::test
