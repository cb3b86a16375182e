#include "server/api/log_scan.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

UnixTime at_second(int second) { return unix_micros(1'763'625'600'000'000 + second * 1'000'000LL); }

// "TIME text\n" for each second.
std::string log_of(const std::vector<std::string>& texts) {
  std::string log;
  int second = 0;
  for (const std::string& text : texts)
    log += format_rfc3339(at_second(second++)) + " " + text + "\n";
  return log;
}

std::vector<std::string> texts_of(const LogScan& scan) {
  std::vector<std::string> texts;
  for (const LogHit& hit : scan.hits) texts.push_back(hit.text);
  return texts;
}

LogScan scan(const std::string& text, bool match_case, const LogScanRequest& request) {
  return scan_log(LogMatcher(text, match_case), request);
}

using Texts = std::vector<std::string>;

TEST(LogScan, FindsEachLineOnceAndSaysWhereItStands) {
  const std::string log = log_of({"loss 1", "NaN and nan", "loss nan", "end"});
  const LogScan found = scan("nan", false, {.data = log, .offset = 1'000, .hits_max = 10});
  EXPECT_EQ(texts_of(found), (Texts{"NaN and nan", "loss nan"}));
  const int64_t line = static_cast<int64_t>(log.find('\n')) + 1;
  EXPECT_EQ(found.hits[0].offset, 1'000 + line);
  EXPECT_EQ(found.hits[1].at, at_second(2));
  EXPECT_EQ(found.next_offset, 1'000 + static_cast<int64_t>(log.size()));
  EXPECT_EQ(texts_of(scan("NaN", true, {.data = log, .hits_max = 10})), (Texts{"NaN and nan"}));
}

TEST(LogScan, LooksAtWhatTheRankWroteAndNotAtTheTimes) {
  const std::string log = log_of({"2025-11-20 is a date", "no date"});
  EXPECT_EQ(texts_of(scan("2025-11-20", true, {.data = log, .hits_max = 10})),
            (Texts{"2025-11-20 is a date"}));
}

TEST(LogScan, LeavesAPartOfALineForTheNextPiece) {
  const std::string log = log_of({"one x", "two x"}) + "2025-11-20T08:00:02.000Z three x";
  const LogScan found = scan("x", true, {.data = log, .offset = 50, .hits_max = 10});
  EXPECT_EQ(texts_of(found), (Texts{"one x", "two x"}));
  EXPECT_EQ(found.next_offset, 50 + static_cast<int64_t>(log.rfind('\n')) + 1);
  const LogScan last = scan("x", true, {.data = log, .is_end = true, .hits_max = 10});
  EXPECT_EQ(texts_of(last).back(), "three x");
}

TEST(LogScan, StopsBeforeTheLineThatIsTooMany) {
  const std::string log = log_of({"a", "a", "a"});
  const LogScan found = scan("a", true, {.data = log, .hits_max = 2});
  ASSERT_EQ(found.hits.size(), 2U);
  const LogScan rest =
      scan("a", true,
           {.data = std::string_view(log).substr(static_cast<size_t>(found.next_offset)),
            .offset = found.next_offset,
            .hits_max = 2});
  ASSERT_EQ(rest.hits.size(), 1U);
  EXPECT_EQ(rest.hits[0].at, at_second(2));
}

TEST(LogScan, KeepsToTheTimesAskedFor) {
  const std::string log = log_of({"a", "a", "a", "a"});
  const LogScan found =
      scan("a", true, {.data = log, .since = at_second(1), .until = at_second(2), .hits_max = 10});
  ASSERT_EQ(found.hits.size(), 2U);
  EXPECT_EQ(found.hits[0].at, at_second(1));
  EXPECT_TRUE(found.is_past_until);
  EXPECT_FALSE(scan("a", true, {.data = log, .until = at_second(3), .hits_max = 10}).is_past_until);
  EXPECT_TRUE(
      scan("none", true, {.data = log, .until = at_second(2), .hits_max = 10}).is_past_until)
      << "where nothing is found, too";
}

TEST(LogScan, ShowsOfALongLineWhatIsAroundTheMatch) {
  const std::string log = log_of({std::string(3'000, 'a') + "needle" + std::string(3'000, 'b')});
  const LogScan found = scan("NEEDLE", false, {.data = log, .hits_max = 10});
  ASSERT_EQ(found.hits.size(), 1U);
  EXPECT_LT(found.hits[0].text.size(), 1'020U);
  EXPECT_NE(found.hits[0].text.find("aneedleb"), std::string::npos);
}

TEST(LogScan, GivesTextThatIsValidWhateverTheRankWrote) {
  const LogScan found = scan("x", true, {.data = "\xff\xfe x\n", .hits_max = 10});
  ASSERT_EQ(found.hits.size(), 1U);
  EXPECT_EQ(found.hits[0].at, std::nullopt);
  EXPECT_EQ(found.hits[0].text, "\xef\xbf\xbd\xef\xbf\xbd x");
}

TEST(LogScan, GoesOnWhereThereAreNoLines) {
  const std::string bytes(1'000, 'a');
  EXPECT_EQ(scan("b", true, {.data = bytes, .offset = 5, .hits_max = 1}).next_offset, 1'005);
}

}  // namespace
}  // namespace hai
