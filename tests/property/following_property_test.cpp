// A planner that followed every change decides the same as one that is new to the state, and a pass
// leaves nothing behind: the promise of plan/planner.h on which replays and failovers rest.

#include <gtest/gtest.h>

#include "server/plan/time_sharing.h"
#include "tests/property/random_plan_world.h"
#include "tests/property/seeds.h"

namespace hai::test {
namespace {

TEST(AFollowingPlanner, DecidesAsANewOne) {
  int plans = 0;
  Seeds seeds(1'000);
  for (uint64_t seed : seeds) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    TimeSharingPlanner planner(VictimChoice::least_lost_work);
    auto compare = [&](Cluster& c) {
      planner.update(c.state(), c.take_changes());
      for (int pass = 0; pass < 2; ++pass) {
        planner.set_turns_at(UnixTime::min());
        EXPECT_EQ(text_of(planner.pass_with_reasons(c.state(), c.knobs, c.now)), text_of(c.plan()))
            << (pass == 0 ? "after the changes" : "the second time");
      }
      ++plans;
    };
    random_cluster(seed, {.turns = seed % 2 == 0, .host = seed % 3 == 0, .after_step = compare});
  }
  EXPECT_GT(plans, seeds.more_than(1'000));
}

// The same when many changes come at once, and when time has passed without a pass.
TEST(AFollowingPlanner, MayBeLate) {
  Seeds seeds(1'000);
  for (uint64_t seed : seeds) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    TimeSharingPlanner planner(VictimChoice::least_lost_work);
    int steps = 0;
    auto compare = [&](Cluster& c) {
      if (++steps % 7 != 0) return;
      c.advance(3h);
      planner.update(c.state(), c.take_changes());
      planner.set_turns_at(UnixTime::min());
      EXPECT_EQ(text_of(planner.pass_with_reasons(c.state(), c.knobs, c.now)), text_of(c.plan()));
    };
    random_cluster(seed, {.turns = seed % 2 == 0, .host = seed % 3 == 0, .after_step = compare});
  }
}

}  // namespace
}  // namespace hai::test
