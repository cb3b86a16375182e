#include "common/status.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/version.h"

namespace hai {
namespace {

Status fails_if(bool fails) {
  if (fails) return not_found("job {}", 17);
  return ok();
}
Status passes_on(bool fails) {
  RETURN_IF_ERROR(fails_if(fails));
  return unavailable("after");
}

TEST(Status, CarriesCodeAndText) {
  EXPECT_TRUE(ok().is_ok());
  EXPECT_EQ(fails_if(true), Status(Code::not_found, "job 17"));
  EXPECT_EQ(passes_on(true).code(), Code::not_found);
  EXPECT_EQ(passes_on(false).message(), "after");
}

TEST(Status, EveryCodeHasItsWord) {
  for (int code = 0; code <= 16; ++code) {
    EXPECT_NE(to_string(static_cast<Code>(code)), "") << code;
  }
  EXPECT_EQ(to_string(Code::deadline_exceeded), "deadline_exceeded");
}

TEST(Result, HoldsAValueOrAStatus) {
  const Result<int> good = 7;
  EXPECT_EQ(good.value(), 7);
  const Result<int> bad = invalid_argument("no");
  EXPECT_FALSE(bad.is_ok());
  EXPECT_EQ(bad.status().message(), "no");
  EXPECT_DEATH(static_cast<void>(bad.value()), "CHECK failed");
}

TEST(Version, IsThatOfTheProject) {
  EXPECT_EQ(std::count(version().begin(), version().end(), '.'), 2) << version();
}

}  // namespace
}  // namespace hai
