// Where a waiting job stands, in the words of `hai run -f`.

#include "server/plan/queue_place.h"

#include "tests/unit/plan/plan_matchers.h"
#include "tests/unit/plan/usage.h"

namespace hai::test {
namespace {

std::optional<int> place_of(Cluster& c, JobId id) {
  return jobs_before(c.state(), c.knobs, c.now, id);
}

TEST(QueuePlace, LevelThenSubmitOrder) {
  Cluster c = cluster(nodes(1, gpus(8)));
  const JobId low = c.submit(job("low").priority(Priority::low));
  const JobId first = c.submit(job("first").priority(Priority::high));
  const JobId second = c.submit(job("second").priority(Priority::high));
  EXPECT_EQ(place_of(c, first), 0);
  EXPECT_EQ(place_of(c, second), 1);
  EXPECT_EQ(place_of(c, low), 2);
}

TEST(QueuePlace, OnlyJobsOfItsGroupThatMayRunStandBeforeIt) {
  Cluster c = cluster(nodes(1, gpus(8)), nodes(1, gpus(8)).group("dev"));
  c.submit(job("elsewhere").group("dev"));
  const JobId held = c.submit(job("held"));
  ASSERT_TRUE(c.decide(HoldJob{std::to_string(held.value), ""}).is_ok());
  const JobId last = c.submit(job("last"));
  EXPECT_EQ(place_of(c, last), 0);
  EXPECT_EQ(place_of(c, held), std::nullopt);
  EXPECT_EQ(place_of(c, JobId{99}), std::nullopt);
}

// Of each queue as jobs_before counts it, with the rule by which each of them is ahead.
TEST(QueuePlace, AllPlacesSayByWhatOthersAreAhead) {
  Cluster c = cluster(nodes(1, gpus(8)), nodes(1, gpus(8)).group("dev"));
  const JobId low = c.submit(job("low").priority(Priority::low));
  const JobId first = c.submit(job("first").priority(Priority::high));
  const JobId second = c.submit(job("second").priority(Priority::high));
  const JobId held = c.submit(job("held"));
  const JobId dev = c.submit(job("dev").group("dev"));
  ASSERT_TRUE(c.decide(HoldJob{std::to_string(held.value), ""}).is_ok());
  const std::vector<QueuePlace> places = queue_places(c.state(), c.knobs, c.now);
  EXPECT_EQ(places, (std::vector<QueuePlace>{
                        {.job = dev, .position = 1},
                        {.job = first, .position = 1},
                        {.job = second, .position = 2, .ahead = {.by_age = 1}},
                        {.job = low, .position = 3, .ahead = {.by_priority = 2}},
                        {.job = held},
                    }));
  for (const QueuePlace& place : places) {
    EXPECT_EQ(place_of(c, place.job).value_or(-1) + 1, place.position);
  }
}

TEST(QueuePlace, UsersWhoUsedLessAreAheadByUsage) {
  Cluster c = cluster(nodes(1, gpus(8)));
  used(c, "bob", "node-1", 10min);
  c.set_scheduling("node-1", Scheduling::cordoned);
  const JobId bobs = c.submit(job("bobs").user("bob"));
  const JobId anns = c.submit(job("anns").user("ann"));
  const std::vector<QueuePlace> places = queue_places(c.state(), c.knobs, c.now);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].job, anns);
  EXPECT_EQ(places[1], (QueuePlace{.job = bobs, .position = 2, .ahead = {.by_usage = 1}}));
}

}  // namespace
}  // namespace hai::test
