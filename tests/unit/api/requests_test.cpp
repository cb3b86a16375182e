// Fields of requests that anybody may fill with anything.

#include <gtest/gtest.h>

#include <limits>

#include "server/api/messages.h"

namespace hai {
namespace {

TEST(AskedTimes, AreOfYearsThatCanBeWritten) {
  constexpr int64_t kLast = 253'402'300'799'999'999;  // 9999-12-31T23:59:59.999999Z
  EXPECT_EQ(asked_time("since", 0).value(), unix_micros(0));
  EXPECT_EQ(format_rfc3339(asked_time("since", kLast).value()), "9999-12-31T23:59:59.999Z");
  for (const int64_t micros : {int64_t{-1}, kLast + 1, std::numeric_limits<int64_t>::min(),
                               std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(asked_time("until", micros).status(),
              invalid_argument("until: must be a time of the years 1970 to 9999"));
  }
}

TEST(AskedTimes, OfALogAreLookedAt) {
  v1::ReadLogRequest request;
  request.set_since_us(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(log_tail_of(request).status().code(), Code::invalid_argument);
  request.set_since_us(0);
  EXPECT_TRUE(log_tail_of(request).is_ok());
}

}  // namespace
}  // namespace hai
