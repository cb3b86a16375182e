#include "cli/time_option.h"

#include <gtest/gtest.h>

#include "cli/format.h"

namespace hai::cli {
namespace {

TEST(TimeOption, IsATimeOrHowLongFromNow) {
  const UnixTime before = wall_now();
  const UnixTime ahead = read_time_option("--deadline", "2h", FromNow::ahead).value();
  const UnixTime ago = read_time_option("--since", "2h", FromNow::ago).value();
  const UnixTime after = wall_now();
  EXPECT_GE(ahead, before + 2h);
  EXPECT_LE(ahead, after + 2h);
  EXPECT_GE(ago, before - 2h);
  EXPECT_LE(ago, after - 2h);
  for (const FromNow way : {FromNow::ahead, FromNow::ago}) {
    EXPECT_EQ(read_time_option("--since", "2026-11-20T08:00:00Z", way).value(),
              parse_rfc3339("2026-11-20T08:00:00Z").value());
  }
}

TEST(TimeOption, NamesTheOptionOfWhatIsNeither) {
  for (const char* bad : {"", "soon", "2026-11-20", "2 hours"}) {
    const Status status = read_time_option("--since", bad, FromNow::ago).status();
    EXPECT_EQ(status.code(), Code::invalid_argument) << bad;
    EXPECT_EQ(status.message().rfind("--since ", 0), 0u) << status.message();
  }
}

}  // namespace
}  // namespace hai::cli
