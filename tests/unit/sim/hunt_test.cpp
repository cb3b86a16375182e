// Worlds told in full: they replay exactly from their text, a hunt is the same for the same seed,
// and what shrinking leaves still breaks the same promise and hardly anything else.

#include "sim/hunt/hunt.h"

#include <gmock/gmock.h>

#include "sim/hunt/breed.h"
#include "sim/hunt/shrink.h"
#include "sim/hunt/story.h"

namespace hai::test {
namespace {

using ::testing::HasSubstr;

WorldPlan recorded_seed(uint64_t seed, uint64_t& digest) {
  WorldPlan world;
  ChaosOptions options{.chaos = 2min};
  options.record = &world;
  digest = run_chaos(seed, options).digest;
  return world;
}

// A promise nobody made.
std::optional<std::string> no_requeue(const Moment& moment, World&) {
  if (moment.event == nullptr) return std::nullopt;
  const auto* requeued = std::get_if<JobRequeued>(&moment.event->body);
  if (requeued == nullptr) return std::nullopt;
  return "planted: job " + std::to_string(requeued->job.value) + " runs again";
}

TEST(WorldPlan, ASeedsWorldReplaysFromItsText) {
  for (uint64_t seed : {3u, 4u, 7u}) {
    uint64_t digest = 0;
    const std::string text = to_text(recorded_seed(seed, digest));
    const Result<WorldPlan> again = to_plan(text);
    ASSERT_TRUE(again.is_ok()) << again.status().message();
    EXPECT_EQ(to_text(again.value()), text);
    EXPECT_EQ(run_world(again.value()).digest, digest) << "seed " << seed;
  }
}

TEST(WorldPlan, AHuntedWorldReplaysFromItsTextAndDrawByDraw) {
  Rng rng(11);
  for (int i = 0; i < 8; ++i) {
    const WorldPlan parent = fresh_world(rng);
    WorldPlan world = child_of(parent, fresh_world(rng), rng);
    const Result<WorldPlan> again = to_plan(to_text(world));
    ASSERT_TRUE(again.is_ok()) << again.status().message();
    EXPECT_EQ(to_text(again.value()), to_text(world));
    WorldPlan recorded;
    ChaosOptions options;
    options.record = &recorded;
    const uint64_t digest = run_world(world, options).digest;
    EXPECT_EQ(run_world(again.value()).digest, digest);
    world.tape = recorded.tape;
    world.noise = 0;
    EXPECT_EQ(run_world(world).digest, digest) << "all that was drawn is on the tape";
  }
}

TEST(WorldPlan, WhatIsNotUnderstoodIsNamed) {
  const std::string text = to_text(WorldPlan{});
  EXPECT_TRUE(to_plan(text + "# a comment\n").is_ok());
  EXPECT_THAT(to_plan("nodes 3\n").status().message(), HasSubstr("line 1"));
  EXPECT_THAT(to_plan(text + "deed @1.0 server_craash target=0\n").status().message(),
              HasSubstr("not understood"));
  EXPECT_FALSE(to_plan(text + "deed @1.0+nowhere:*#1+0 server_crash target=0\n").is_ok());
  EXPECT_FALSE(to_plan(text + "hold @1.0+launch_arrives:*#1+0.0 arrivals=1\n").is_ok());
  EXPECT_FALSE(to_plan(text + "nodes 0\n").is_ok());
}

TEST(WorldPlan, ADeedComesAtItsDecisionPoint) {
  Rng rng(5);
  WorldPlan world = fresh_world(rng);
  world.deeds.clear();
  world.deeds.push_back({.when = {.at = 10s, .point = point_named("launch_leaves"), .nth = 2},
                         .deed = {.kind = DeedKind::agent_crash, .target = PlannedDeed::kThere}});
  int launches = 0;
  int node = -1;
  Duration left_at{0};
  int crashed = -1;
  ChaosOptions options;
  options.on_moment = [&](const Moment& moment, World& at) {
    if (moment.point == point_named("launch_leaves") &&
        at.timeline().now().time_since_epoch() >= 10s && ++launches == 2) {
      node = moment.node;
      left_at = at.timeline().now().time_since_epoch();
    }
  };
  options.on_deed = [&](const Deed& deed, World& at) {
    EXPECT_EQ(at.timeline().now().time_since_epoch(), left_at);
    crashed = deed.target;
  };
  EXPECT_FALSE(run_world(world, options).violation);
  EXPECT_GE(node, 0);
  EXPECT_EQ(crashed, node);
}

TEST(WorldPlan, AHeldMessageComesAfterLaterOnes) {
  WorldPlan world;
  world.nodes = 1;
  world.leaves = 1;
  world.chaos = 1min;
  world.network.reordering = 0.001;
  auto overtaken = [&] {
    int count = 0;
    ChaosOptions options;
    options.on_moment = [&](const Moment& moment, World&) { count += moment.is_overtaken; };
    EXPECT_FALSE(run_world(world, options).violation);
    return count;
  };
  EXPECT_EQ(overtaken(), 0) << "all is calm";
  world.knobs.heartbeat = 1s;
  world.holds.push_back(
      {.when = {.at = 20s, .point = point_named("report_leaves")}, .arrivals = 2});
  EXPECT_EQ(overtaken(), 1);
}

TEST(Hunt, IsTheSameForTheSameSeed) {
  auto worlds_of = [](uint64_t seed) {
    std::string all;
    HuntOptions options{.seed = seed, .worlds = 50};
    options.before = [&](const WorldPlan& world) { all += to_text(world); };
    const Hunted hunted = hunt(options);
    return std::pair{all, hunted.pairs};
  };
  const auto once = worlds_of(2);
  EXPECT_EQ(once, worlds_of(2));
  EXPECT_NE(once.first, worlds_of(3).first);
}

TEST(Hunt, FindsWhatIsWrongAndPassesOverWhatIsKnown) {
  HuntOptions options{.seed = 1, .worlds = 40};
  options.chaos.judge = no_requeue;
  const Hunted hunted = hunt(options);
  ASSERT_TRUE(hunted.world);
  EXPECT_THAT(hunted.violation, HasSubstr("planted"));
  options.known = {"planted"};
  options.worlds = hunted.worlds;
  const Hunted passed = hunt(options);
  EXPECT_FALSE(passed.world);
  EXPECT_EQ(passed.known, 1);
}

// One rank's end asks for one fault, one job and the users: hardly anything else may be left.
TEST(Shrink, KeepsTheViolationAndLittleElse) {
  ShrinkOptions options{.time = 5min};
  options.chaos.judge = no_requeue;
  WorldPlan world;
  ChaosResult before;
  for (uint64_t seed = 1; seed <= 40 && !before.violation; ++seed) {
    uint64_t digest = 0;
    world = recorded_seed(seed, digest);
    before = run_world(world, options.chaos);
  }
  ASSERT_TRUE(before.violation);
  const Shrunk shrunk = shrink(world, *before.violation, options);
  EXPECT_TRUE(shrunk.is_done);
  EXPECT_EQ(run_world(shrunk.world, options.chaos).violation, shrunk.violation);
  EXPECT_EQ(kind_of_violation(shrunk.violation), kind_of_violation(*before.violation));
  EXPECT_LT(shrunk.world.deeds.size(), 3u);
  EXPECT_LT(shrunk.world.acts.size(), 4u);
  EXPECT_LT(shrunk.world.tape.size(), 5u);
  const std::string story = story_of(shrunk.world, options.chaos);
  EXPECT_THAT(story, HasSubstr("so: " + shrunk.violation));
  EXPECT_THAT(story, HasSubstr("submits job-"));
}

TEST(Shrink, KindsOfViolationsLeaveNamesOut) {
  EXPECT_EQ(kind_of_violation("purpose: job 13 is not in the way of job 12"),
            kind_of_violation("purpose: job 2 is not in the way of job 141"));
  EXPECT_NE(kind_of_violation("purpose: job 13 is not in the way of job 12"),
            kind_of_violation("purpose: job 13 is no legal victim of job 12"));
}

}  // namespace
}  // namespace hai::test
