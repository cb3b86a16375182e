#include "server/api/job_census.h"

#include <gtest/gtest.h>

#include "server/api/queries.h"
#include "tests/support/builders.h"

namespace hai {
namespace {

// What waits is each job, and each task of an array, made or not; the array itself runs nowhere.
TEST(JobCensus, AnArrayIsAsManyJobsAsItHasTasks) {
  test::Cluster c = test::cluster(test::nodes(1, test::gpus(8)));
  const std::string name;
  const auto queued = [&] { return summarize({c.state(), {}, name}).jobs("queued"); };
  c.submit(test::job("alone"));
  const auto sweep = c.decide(SubmitJob{test::job("sweep").gpus(1).array("0-99999").spec(), ""});
  const JobId array = sweep.value().job;
  const int made = c.job(array).array.made;
  ASSERT_GT(made, 0);
  EXPECT_EQ(tasks_to_come(c.job(array), c.state().unfinished_arrays().at(array)), 100'000 - made);
  EXPECT_EQ(queued(), 100'001);

  ASSERT_TRUE(c.decide(StopJob{.job = std::to_string(array.value)}).is_ok());
  EXPECT_EQ(queued(), 1);
}

}  // namespace
}  // namespace hai
