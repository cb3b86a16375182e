// CPUs and memory in random clusters: never given twice, and jobs without GPUs in nobody's way.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "server/model/invariants.h"
#include "tests/property/host_checks.h"
#include "tests/property/random_plan_world.h"
#include "tests/property/seeds.h"

namespace hai::test {
namespace {

constexpr uint64_t kHostSeeds = 120;

RandomWorldOptions host_options(uint64_t seed) { return {.turns = seed % 2 == 0, .host = true}; }

TEST(HostInAnyWorld, IsNeverOvercommittedAtAnyStep) {
  int steps = 0;
  int without_gpus = 0;
  Seeds seeds(kHostSeeds);
  for (uint64_t seed : seeds) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomWorldOptions options = host_options(seed);
    options.after_step = [&](Cluster& c) {
      EXPECT_THAT(violated_invariants(c.state()), ::testing::IsEmpty());
      ++steps;
      for (JobId id : c.state().live()) without_gpus += !c.job(id).spec->asks_gpus();
    };
    random_cluster(seed, options);
  }
  EXPECT_GT(steps, seeds.more_than(1'000));
  EXPECT_GT(without_gpus, seeds.more_than(200)) << "the random clusters must hold such jobs";
}

// What was held for a job is there when its victims have left: machines do not change here.
TEST(HostInAnyWorld, IsKeptForWhomItIsHeld) {
  int reserves = 0;
  Seeds seeds(kHostSeeds);
  for (uint64_t seed : seeds) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomWorldOptions options = host_options(seed);
    options.after_step = [&](Cluster& c) {
      const Plan plan = c.plan();
      reserves += static_cast<int>(plan.reserves.size());
      for (const DropItem& item : plan.drops) {
        EXPECT_EQ(item.reason.find("has not the CPUs"), std::string::npos) << item.reason;
      }
    };
    random_cluster(seed, options);
  }
  EXPECT_GT(reserves, seeds.more_than(40));
}

// … and nobody is interrupted for a job that could not run where that one is.
TEST(NodeFilters, HoldInAnyWorld) {
  int filtered = 0;
  int victims = 0;
  Seeds seeds(kHostSeeds);
  for (uint64_t seed : seeds) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomWorldOptions options = host_options(seed);
    options.host = seed % 3 == 0;
    options.filters = true;
    options.after_step = [&](Cluster& c) {
      EXPECT_THAT(violated_invariants(c.state()), ::testing::IsEmpty());
      const Plan plan = c.plan();
      const auto look_at = [&](const auto& item) {
        const NodeFilter& filter = c.job(item.job).spec->node_filter;
        filtered += !filter.is_empty();
        for (const RankPlacement& place : item.placement) {
          EXPECT_TRUE(filter.takes(c.state().find(place.node)->facts)) << filter_text(filter);
        }
      };
      for (const StartItem& item : plan.starts) look_at(item);
      for (const ReserveItem& item : plan.reserves) {
        look_at(item);
        for (JobId victim : item.victims) {
          ++victims;
          const auto stands_on = [&](const Rank& rank) {
            return std::ranges::any_of(item.placement, [&](const RankPlacement& place) {
              return place.node == rank.place.node;
            });
          };
          EXPECT_TRUE(std::ranges::any_of(c.attempt(victim).holding_ranks(), stands_on))
              << text_of(plan);
        }
      }
    };
    random_cluster(seed, options);
  }
  EXPECT_GT(filtered, seeds.more_than(200));
  EXPECT_GT(victims, seeds.more_than(50));
}

TEST(JobsWithoutGpus, ChangeNothingOfTheOthersPlanWhileTheyWait) {
  int seen = 0;
  Seeds seeds(kHostSeeds);
  for (uint64_t seed : seeds) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomWorldOptions options = host_options(seed);
    options.after_step = [&](Cluster& c) { seen += expect_waiting_ones_change_nothing(c); };
    random_cluster(seed, options);
  }
  EXPECT_GT(seen, seeds.more_than(200));
}

TEST(JobsWithoutGpus, DelayNobodyByRunning) {
  int seen = 0;
  Seeds seeds(kHostSeeds);
  for (uint64_t seed : seeds) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    RandomWorldOptions options = host_options(seed);
    options.after_step = [&](Cluster& c) { seen += expect_first_is_not_delayed(c); };
    random_cluster(seed, options);
  }
  EXPECT_GT(seen, seeds.more_than(60));
}

}  // namespace
}  // namespace hai::test
