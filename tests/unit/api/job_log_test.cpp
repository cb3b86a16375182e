#include "server/api/job_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/log.h"

namespace hai {
namespace {

TEST(JobLog, TellsHowAJobBeginsAndEnds) {
  const std::string path = testing::TempDir() + "job_log_test.log";
  std::remove(path.c_str());
  ASSERT_TRUE(set_log_file(path).is_ok());
  const JobId job{7};
  JobSpec spec;
  spec.name = "mnist";
  log_jobs(
      {{.body =
            JobSubmitted{.job = job, .user = "ann", .spec = std::make_shared<const JobSpec>(spec)}},
       {.body = JobPriorityChanged{.job = job}},
       {.body = AttemptPlaced{.job = job, .attempt = 1}},
       {.body = RankRunning{.job = job, .attempt = 1}},
       {.body =
            AttemptEnded{
                .job = job, .attempt = 1, .outcome = AttemptState::failed, .reason = "exit 3"}},
       {.body =
            JobFinished{
                .job = job, .state = JobState::failed, .exit_code = 3, .reason = "exit 3"}}},
      ClusterState());
  ASSERT_TRUE(set_log_file("").is_ok());
  std::ifstream file(path);
  std::vector<std::string> said;
  for (std::string line; std::getline(file, line);) {
    said.push_back(line.substr(line.find("info ") + 5));
  }
  EXPECT_THAT(
      said, testing::ElementsAre("job_submitted job=7 user=ann name=mnist",
                                 "attempt_placed job=7 attempt=1 nodes=\"\"",
                                 "attempt_ended job=7 attempt=1 outcome=failed reason=\"exit 3\"",
                                 "job_finished job=7 state=failed exit_code=3 reason=\"exit 3\""));
  std::remove(path.c_str());
}

}  // namespace
}  // namespace hai
