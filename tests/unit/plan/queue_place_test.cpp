// Where a waiting job stands, in the words of `hai run -f`.

#include "server/plan/queue_place.h"

#include "tests/unit/plan/plan_matchers.h"

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

}  // namespace
}  // namespace hai::test
