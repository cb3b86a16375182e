#include "proto/convert/spec_convert.h"

#include <gtest/gtest.h>

#include "hai/v1/types.pb.h"

namespace hai {
namespace {

JobSpec full_spec() {
  return {
      .name = "llm-7b",
      .priority = Priority::above_normal,
      .workspace = "/data/ann",
      .entrypoint = "train.py",
      .parameters = "--config '7b small.yaml'",
      .environments = {{"A", "1"}, {"B", ""}},
      .group = "dev",
      .zone = "B",
      .node_count = 16,
      .gpus_per_node = 4,
      .cpus_per_node = 12,
      .memory_per_node_bytes = int64_t{64} << 30,
      .image = "cuda",
      .launch = LaunchMode::per_gpu,
      .env_style = EnvStyle::slurm,
      .suspend = {.grace = 90s, .signal = "SIGUSR1", .exit_code = 86},
      .checkpoint_period = 7min,
      .restart = {.on_failure = true, .max = 9},
      .timeout = 48h,
      .watchdog = 250ms,
      .max_leaves = 2,
      .cross_zone = CrossZone::never,
      .is_interactive = true,
      .releases_early = true,
      .is_shared_in_group = true,
      .tags = {"a", "b"},
      .depends_on = {"prepare", "17"},
      .begin_at = unix_micros(1'795'161'600'000'001),
      .program = {.core_size = kUnlimited, .mounts = {"/data", "/a:/b:ro"}, .services = {"web:1"}}};
}

TEST(SpecConvert, RoundTripsEveryField) {
  const Result<JobSpec> back = from_proto(to_proto(full_spec()));
  ASSERT_TRUE(back.is_ok()) << back.status().message();
  EXPECT_TRUE(back.value() == full_spec());
}

TEST(SpecConvert, RoundTripsDefaults) {
  const Result<JobSpec> back = from_proto(to_proto(JobSpec{}));
  ASSERT_TRUE(back.is_ok()) << back.status().message();
  EXPECT_TRUE(back.value() == JobSpec{});
}

TEST(SpecConvert, RefusesUnknownWordsAndNamesTheField) {
  v1::JobSpec message = to_proto(full_spec());
  message.set_launch("per_rack");
  EXPECT_EQ(from_proto(message).status(),
            invalid_argument("launch: 'per_rack' is not one of per_node, per_gpu"));
  message = to_proto(full_spec());
  message.set_priority("urgent");
  EXPECT_EQ(from_proto(message).status().code(), Code::invalid_argument);
}

TEST(SpecConvert, RefusesTimesThatCouldOverflow) {
  v1::JobSpec message = to_proto(full_spec());
  message.set_timeout_us(INT64_MAX);
  EXPECT_EQ(from_proto(message).status().code(), Code::invalid_argument);
  message = to_proto(full_spec());
  message.set_watchdog_us(-1);
  EXPECT_EQ(from_proto(message).status().code(), Code::invalid_argument);
  message = to_proto(full_spec());
  message.set_begin_at_us(INT64_MIN);
  EXPECT_EQ(from_proto(message).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace hai
