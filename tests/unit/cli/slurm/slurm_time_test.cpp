#include "cli/slurm/slurm_time.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace hai::cli::slurm {
namespace {

TEST(SlurmTime, Limits) {
  const std::pair<const char*, Duration> kCases[] = {
      {"90", 90min}, {"5:30", 5min + 30s},     {"12:00:00", 12h},
      {"2-12", 60h}, {"2-12:30", 60h + 30min}, {"1-00:00:01", 24h + 1s},
      {"0", 0s},     {"infinite", 0s},         {"UNLIMITED", 0s}};
  for (const auto& [text, expected] : kCases) {
    ASSERT_TRUE(parse_time_limit(text).is_ok()) << text;
    EXPECT_EQ(parse_time_limit(text).value(), expected) << text;
  }
  for (const char* text : {"", "a", "-1", "1:2:3:4", "1-", "-", "1h", "1-2:3:4:5",
                           "1:", "99999999999999999999", "1 "}) {
    EXPECT_FALSE(parse_time_limit(text).is_ok()) << text;
  }
}

TEST(SlurmTime, Elapsed) {
  EXPECT_EQ(format_elapsed(0s), "0:00");
  EXPECT_EQ(format_elapsed(125s), "2:05");
  EXPECT_EQ(format_elapsed(1h + 2min + 5s), "1:02:05");
  EXPECT_EQ(format_elapsed(76h), "3-04:00:00");
  EXPECT_EQ(format_elapsed(-5s), "0:00");
}

class BeginTime : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
  static std::string at(std::string_view text) {
    const Result<UnixTime> time =
        parse_begin_time(text, parse_rfc3339("2026-11-20T15:30:00Z").value());
    return time.is_ok() ? format_clock_time(to_micros(time.value())) : "error";
  }
};

TEST_F(BeginTime, IsReadAsSlurmDoes) {
  EXPECT_EQ(at("now"), "2026-11-20T15:30:00");
  EXPECT_EQ(at("now+90"), "2026-11-20T15:31:30");
  EXPECT_EQ(at("now-7days"), "2026-11-13T15:30:00");
  EXPECT_EQ(at("now+1hour"), "2026-11-20T16:30:00");
  EXPECT_EQ(at("now+2days"), "2026-11-22T15:30:00");
  EXPECT_EQ(at("16:00"), "2026-11-20T16:00:00");
  EXPECT_EQ(at("15:00:05"), "2026-11-21T15:00:05");  // that was before now
  EXPECT_EQ(at("noon"), "2026-11-21T12:00:00");
  EXPECT_EQ(at("teatime"), "2026-11-20T16:00:00");
  EXPECT_EQ(at("tomorrow"), "2026-11-21T00:00:00");
  EXPECT_EQ(at("2026-12-01"), "2026-12-01T00:00:00");
  EXPECT_EQ(at("2026-12-01T08:15"), "2026-12-01T08:15:00");
  for (const char* text : {"", "later", "now+", "now+1fortnight", "25:00", "2026-02-30",
                           "2026-12-01 08:15", "now+99999999weeks", "12:3:4:5"}) {
    EXPECT_EQ(at(text), "error") << text;
  }
}

}  // namespace
}  // namespace hai::cli::slurm
