// One person's 480 jobs with 256 KB of environment made the database 244 MB larger.

#include "server/api/byte_share.h"

#include <gtest/gtest.h>

#include "server/api/store_shares.h"

namespace hai::test {
namespace {

constexpr int64_t kLarge = 256 << 10;
constexpr int64_t kMax = 256 * kLarge;
const UnixTime kNow = unix_micros(1'790'000'000'000'000);

int take_all(ByteShare& share, const std::string& user, UnixTime now) {
  int taken = 0;
  while (!share.take(user, kLarge, now)) ++taken;
  return taken;
}

TEST(ByteShare, OfOnePersonIsBoundedAndComesBackWithTime) {
  ByteShare share(kMax);
  EXPECT_EQ(take_all(share, "ann", kNow), 256);
  EXPECT_EQ(share.take("ann", kLarge, kNow), 15s);
  EXPECT_EQ(take_all(share, "bob", kNow), 256) << "others are not concerned";
  EXPECT_EQ(take_all(share, "ann", kNow + 15min), 64);
  EXPECT_EQ(take_all(share, "ann", kNow + 24h), 256);
  EXPECT_EQ(take_all(share, "ann", kNow), 0) << "a clock that is set back gives nothing";
}

TEST(ByteShare, WhatWasRefusedIsGivenBack) {
  ByteShare share(kMax);
  take_all(share, "ann", kNow);
  share.give_back("ann", kLarge, kNow);
  EXPECT_EQ(take_all(share, "ann", kNow), 1);
  share.give_back("bob", kLarge, kNow);
  EXPECT_EQ(take_all(share, "bob", kNow), 256) << "nobody has more than all";
}

TEST(StoredBytes, CountEverythingThatMayBeLong) {
  JobSpec spec{.workspace = "/w", .entrypoint = "run.sh", .parameters = "--lr 1"};
  spec.environments = {{"KEY", "value"}};
  spec.tags = {"tag"};
  spec.depends_on = {"other"};
  EXPECT_EQ(long_parts_bytes(spec), 2 + 6 + 6 + 8 + 3 + 5);
  const int64_t least = stored_bytes(ReleaseJob{"1"});
  EXPECT_GE(least, 256) << "no change is free";
  EXPECT_EQ(stored_bytes(SubmitJob{spec, ""}), least + long_parts_bytes(spec));
  EXPECT_EQ(stored_bytes(HoldJob{"1", std::string(1'000, 'r')}), least + 1'000);
  EXPECT_EQ(stored_bytes(SetSecret{{.sealed = std::string(64 << 10, 's')}}), least + (64 << 10));
  EXPECT_EQ(stored_bytes(AddToken{{.label = "ci"}}), least + 2);
  EXPECT_EQ(stored_bytes(EditJob{.job = "1", .tags = {{"a", "bc"}}}), least + 3);
}

}  // namespace
}  // namespace hai::test
