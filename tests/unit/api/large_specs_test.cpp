// One person's 480 jobs with 256 KB of environment made the database 244 MB larger.

#include "server/api/large_specs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai::test {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kLarge = (256 << 10) + LargeSpecs::kFreeBytes;
const UnixTime kNow = unix_micros(1'790'000'000'000'000);

int take_all(LargeSpecs& specs, const std::string& user, UnixTime now) {
  int taken = 0;
  while (specs.take(user, kLarge, now).is_ok()) ++taken;
  return taken;
}

TEST(LargeSpecs, OfOnePersonAreBoundedAndComeBackWithTime) {
  LargeSpecs specs;
  EXPECT_EQ(take_all(specs, "ann", kNow), 256);
  const Status refused = specs.take("ann", kLarge, kNow);
  EXPECT_EQ(refused.code(), Code::resource_exhausted);
  EXPECT_THAT(refused.message(), HasSubstr("ann has submitted 64 MiB of large job specs"));
  EXPECT_THAT(refused.message(), HasSubstr("go on in 15s"));
  EXPECT_EQ(take_all(specs, "bob", kNow), 256) << "others are not concerned";
  EXPECT_EQ(take_all(specs, "ann", kNow + 15min), 64);
  EXPECT_EQ(take_all(specs, "ann", kNow + 24h), 256);
  EXPECT_EQ(take_all(specs, "ann", kNow), 0) << "a clock that is set back gives nothing";
}

TEST(LargeSpecs, WhatWasRefusedIsGivenBack) {
  LargeSpecs specs;
  take_all(specs, "ann", kNow);
  specs.give_back("ann", kLarge, kNow);
  EXPECT_EQ(take_all(specs, "ann", kNow), 1);
  specs.give_back("ann", LargeSpecs::kFreeBytes, kNow);
  EXPECT_EQ(take_all(specs, "ann", kNow), 0) << "what cost nothing gives nothing";
  specs.give_back("bob", kLarge, kNow);
  EXPECT_EQ(take_all(specs, "bob", kNow), 256) << "nobody has more than all";
}

TEST(LargeSpecs, JobsOfOrdinarySizeCostNothing) {
  LargeSpecs specs;
  take_all(specs, "ann", kNow);
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(specs.take("ann", LargeSpecs::kFreeBytes, kNow).is_ok());
  }
}

TEST(LargeSpecs, EverythingThatMayBeLongCounts) {
  JobSpec spec{.workspace = "/w", .entrypoint = "run.sh", .parameters = "--lr 1"};
  spec.environments = {{"KEY", "value"}};
  spec.tags = {"tag"};
  spec.depends_on = {"other"};
  EXPECT_EQ(long_parts_bytes(spec), 2 + 6 + 6 + 8 + 3 + 5);
}

}  // namespace
}  // namespace hai::test
