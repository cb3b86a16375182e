#include "common/time.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(Duration, ReadsEveryForm) {
  const struct {
    const char* text;
    Duration expected;
  } kCases[] = {{"0", 0s},
                {"0s", 0s},
                {"90s", 90s},
                {"90", 90s},
                {"5m", 5min},
                {"1h30m", 90min},
                {"250ms", 250ms},
                {"2d", 48h},
                {"15us", 15us},
                {"1d2h3m4s5ms6us", 26h + 3min + 4s + 5ms + 6us},
                {"3653d", 3653 * 24h}};
  for (const auto& c : kCases) {
    const Result<Duration> parsed = parse_duration(c.text);
    ASSERT_TRUE(parsed.is_ok()) << c.text;
    EXPECT_EQ(parsed.value(), c.expected) << c.text;
  }
}

TEST(Duration, RefusesWhatIsNone) {
  for (const char* text : {"",
                           " ",
                           "s",
                           "-5s",
                           "+5s",
                           "5 m",
                           "5x",
                           "1.5h",
                           "5m1h",
                           "5m5m",
                           "5m30",
                           "30 ",
                           " 30",
                           "1e3",
                           "3654d",
                           "99999999999999999999s",
                           "9223372036854775807d",
                           "5mm",
                           "0x5s",
                           "5\n"}) {
    const Result<Duration> parsed = parse_duration(text);
    ASSERT_FALSE(parsed.is_ok()) << text;
    EXPECT_EQ(parsed.status().code(), Code::invalid_argument) << text;
  }
}

TEST(Duration, SaysHowToWriteIt) {
  EXPECT_EQ(parse_duration("5 minutes").status().message(),
            "duration '5 minutes': write it like 90s, 5m, 1h30m, 250ms or 2d");
  EXPECT_EQ(parse_duration("4000d").status().message(), "duration '4000d' is above 10 years");
}

TEST(Duration, FormatsShortestExactForm) {
  EXPECT_EQ(format_duration(0s), "0s");
  EXPECT_EQ(format_duration(90min), "1h30m");
  EXPECT_EQ(format_duration(250ms), "250ms");
  EXPECT_EQ(format_duration(48h), "2d");
  EXPECT_EQ(format_duration(1s + 1us), "1s1us");
  EXPECT_EQ(format_duration(-90s), "-1m30s");
}

TEST(Duration, FormatAndParseAgree) {
  for (int64_t micros = 1; micros < 200'000'000'000'000; micros = micros * 7 + 3) {
    const Duration duration(micros);
    EXPECT_EQ(parse_duration(format_duration(duration)).value(), duration);
  }
}

TEST(Rfc3339, ReadsEveryForm) {
  const UnixTime kEight = unix_micros(1'795'161'600'000'000);
  const struct {
    const char* text;
    UnixTime expected;
  } kCases[] = {{"2026-11-20T08:00:00Z", kEight},
                {"2026-11-20t08:00:00z", kEight},
                {"2026-11-20 08:00:00Z", kEight},
                {"2026-11-20T16:00:00+08:00", kEight},
                {"2026-11-20T02:30:00-05:30", kEight},
                {"2026-11-20T08:00:00.25Z", kEight + 250ms},
                {"2026-11-20T08:00:00.123456789Z", kEight + 123'456us},
                {"1970-01-01T00:00:00Z", unix_micros(0)},
                {"1969-12-31T23:59:59Z", unix_micros(-1'000'000)},
                {"2024-02-29T00:00:00Z", unix_micros(1'709'164'800'000'000)},
                {"2016-12-31T23:59:60Z", unix_micros(1'483'228'800'000'000)}};
  for (const auto& c : kCases) {
    const Result<UnixTime> parsed = parse_rfc3339(c.text);
    ASSERT_TRUE(parsed.is_ok()) << c.text;
    EXPECT_EQ(parsed.value(), c.expected) << c.text;
  }
}

TEST(Rfc3339, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "tomorrow",
                           "2026-11-20",
                           "2026-11-20T08:00Z",
                           "2026-11-20T08:00:00",
                           "26-11-20T08:00:00Z",
                           "2026-13-20T08:00:00Z",
                           "2026-00-20T08:00:00Z",
                           "2026-11-31T08:00:00Z",
                           "2025-02-29T08:00:00Z",
                           "2026-11-20T24:00:00Z",
                           "2026-11-20T08:60:00Z",
                           "2026-11-20T08:00:61Z",
                           "2026-11-20T08:00:00.Z",
                           "2026-11-20T08:00:00+8",
                           "2026-11-20T08:00:00+24:00",
                           "2026-11-20T08:00:00+0800",
                           "2026-11-20T08:00:00Zjunk",
                           " 2026-11-20T08:00:00Z",
                           "2026-1-20T08:00:00Z",
                           "-026-11-20T08:00:00Z"}) {
    ASSERT_FALSE(parse_rfc3339(text).is_ok()) << text;
  }
  EXPECT_EQ(parse_rfc3339("soon").status().message(),
            "time 'soon': write it like 2026-11-20T08:00:00Z");
}

TEST(Rfc3339, FormatsUtcWithMilliseconds) {
  EXPECT_EQ(format_rfc3339(unix_micros(1'795'161'600'000'000)), "2026-11-20T08:00:00.000Z");
  EXPECT_EQ(format_rfc3339(unix_micros(-1)), "1969-12-31T23:59:59.999Z");
  // What nobody can write: found by a fuzzer, in a message that it made up.
  EXPECT_EQ(format_rfc3339(unix_micros(INT64_MIN)), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(format_rfc3339(unix_micros(INT64_MAX)), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(format_rfc3339(unix_micros(1'709'251'199'999'999)), "2024-02-29T23:59:59.999Z");
}

TEST(Rfc3339, FormatAndParseAgree) {
  for (int64_t millis = -62'135'596'800'000; millis < 253'402'300'800'000;
       millis += 7'654'321'987) {
    const UnixTime time = unix_micros(millis * 1000);
    EXPECT_EQ(parse_rfc3339(format_rfc3339(time)).value(), time);
  }
}

}  // namespace
}  // namespace hai
