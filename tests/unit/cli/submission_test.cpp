#include "cli/submission.h"

#include <gtest/gtest.h>

#include <set>

namespace hai::cli {
namespace {

TEST(Submission, OptionsWinOverTheFile) {
  JobSpec spec{
      .name = "a", .priority = Priority::low, .group = "dev", .zone = "B", .node_count = 9};
  SubmissionOptions options;
  options.nodes = 2;
  options.gpus = "4";
  options.name = "b";
  options.group = "training#A";
  options.priority = "30";
  options.environments = {"A=1", "B=x=y"};
  options.tags = {"t"};
  options.suspend_signal = "usr1";
  options.grace = "90s";
  options.timeout = "2h";
  options.launch = "per_gpu";
  options.env_style = "torch";
  ASSERT_TRUE(apply_options(options, spec).is_ok());
  const JobSpec wanted{.name = "b",
                       .priority = Priority::high,
                       .environments = {{"A", "1"}, {"B", "x=y"}},
                       .group = "training",
                       .zone = "A",
                       .node_count = 2,
                       .gpus_per_node = 4,
                       .launch = LaunchMode::per_gpu,
                       .env_style = EnvStyle::torch,
                       .suspend = {.grace = 90s, .signal = "SIGUSR1"},
                       .timeout = 2h,
                       .tags = {"t"}};
  EXPECT_TRUE(spec == wanted);
}

TEST(Submission, WithoutOptionsTheFileStays) {
  JobSpec spec{.name = "a", .group = "dev", .zone = "B"};
  const JobSpec before = spec;
  ASSERT_TRUE(apply_options({}, spec).is_ok());
  EXPECT_TRUE(spec == before);
}

// How often says that, too.
TEST(Submission, RestartMaxRestarts) {
  JobSpec spec;
  ASSERT_TRUE(apply_options({.restart_max = 2}, spec).is_ok());
  EXPECT_TRUE(spec.restart.on_failure);
  EXPECT_EQ(spec.restart.max, 2);
  spec = {};
  ASSERT_TRUE(apply_options({.restart_on_failure = true}, spec).is_ok());
  EXPECT_TRUE(spec.restart.on_failure);
  EXPECT_EQ(spec.restart.max, 3);
}

TEST(Submission, BadOptionsAreNamed) {
  const auto error_of = [](const SubmissionOptions& options) {
    JobSpec spec;
    return apply_options(options, spec).message();
  };
  EXPECT_TRUE(error_of({.timeout = "soon"}).starts_with("--timeout: "));
  EXPECT_TRUE(error_of({.environments = {"=1"}}).starts_with("--env: "));
  EXPECT_TRUE(error_of({.environments = {"HAI_SURELY_NOT_SET_HERE"}}).starts_with("--env: "));
  EXPECT_TRUE(error_of({.suspend_signal = "SIGNOPE"}).starts_with("--suspend-signal: "));
  EXPECT_TRUE(error_of({.begin_at = "tomorrow"}).starts_with("--begin-at: "));
  EXPECT_NE(error_of({.priority = "urgent"}), "");
}

TEST(Submission, NamesAreUniqueAndPlain) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) names.insert(unique_name("my job.v2"));
  EXPECT_EQ(names.size(), 1000U);
  EXPECT_TRUE(names.begin()->starts_with("my-job-v2-")) << *names.begin();
  EXPECT_TRUE(unique_name("").starts_with("job-"));
}

}  // namespace
}  // namespace hai::cli
