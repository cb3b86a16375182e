// Logs in parts, and the search through them, as a page asks for them.

#include "tests/unit/http/routes_fixture.h"

namespace hai {
namespace {

class Logs : public RoutesFixture {
 protected:
  static constexpr int kLines = 60'000;

  // "2026-11-20T08:00:00.000Z line 00000\n", one a second: all of one length.
  static std::string line(int number) {
    const UnixTime at =
        parse_rfc3339("2026-11-20T08:00:00Z").value() + std::chrono::seconds(number);
    return fmt::format("{} line {:05}\n", format_rfc3339(at), number);
  }
  static constexpr int64_t kLineBytes = 36;

  static std::string header(const Answer& answer, const std::string& name) {
    const size_t at = answer.head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 4;
    return answer.head.substr(begin, answer.head.find("\r\n", begin) - begin);
  }

  void write_lines(int count) {
    std::string log;
    for (int number = 0; number < count; ++number) log += line(number);
    server_.write_log(log);
  }

  Answer part(int64_t job, const std::string& query) {
    return get(fmt::format("/api/v1/jobs/{}/logs?{}", job, query));
  }
  json search(int64_t job, const std::string& query) {
    const Answer answer = get(fmt::format("/api/v1/jobs/{}/logs/search?{}", job, query));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.content();
  }
};

TEST_F(Logs, APartSaysWhereItStandsInTheWhole) {
  const int64_t job = submit("parts");
  write_lines(kLines);
  const Answer middle = part(job, fmt::format("offset={}&max_bytes=72", 100 * kLineBytes));
  EXPECT_EQ(middle.body, line(100) + line(101));
  EXPECT_EQ(header(middle, "HAI-Log-Offset"), std::to_string(100 * kLineBytes));
  EXPECT_EQ(header(middle, "HAI-Log-Begin"), "0");
  EXPECT_EQ(header(middle, "HAI-Log-Size"), std::to_string(kLines * kLineBytes));
  EXPECT_EQ(header(middle, "HAI-Log-Over"), "false");
  const Answer tail = part(job, "tail_bytes=36&max_bytes=1000");
  EXPECT_EQ(tail.body, line(kLines - 1));
  const Answer behind = part(job, fmt::format("offset={}&max_bytes=10", kLines * kLineBytes));
  EXPECT_EQ(behind.body, "");
  EXPECT_EQ(part(job, "max_bytes=10&follow=true").status, 400);
  EXPECT_EQ(part(job, "max_bytes=1048577").status, 400);
}

TEST_F(Logs, APartBeginsAtATime) {
  const int64_t job = submit("times");
  write_lines(kLines);
  const auto first_since = [&](const std::string& time) {
    return part(job, "max_bytes=36&since=" + time).body;
  };
  EXPECT_EQ(first_since("2026-11-20T08:00:00Z"), line(0));
  EXPECT_EQ(first_since("2020-01-01T00:00:00Z"), line(0));
  EXPECT_EQ(first_since("2026-11-20T08:20:34Z"), line(1'234));
  EXPECT_EQ(first_since("2026-11-20T08:20:34.5Z"), line(1'235));
  EXPECT_EQ(first_since("2026-11-21T00:39:59Z"), line(kLines - 1));
  EXPECT_EQ(first_since("2027-01-01T00:00:00Z"), "");
}

TEST_F(Logs, ASearchLooksThroughAllAndGoesOnWhereItEnded) {
  const int64_t job = submit("search");
  write_lines(kLines);
  json page = search(job, "text=LINE%2012&limit=300");  // 12000 to 12999
  std::vector<int64_t> offsets;
  int calls = 1;
  for (;; ++calls) {
    for (const json& found : page["lines"]) offsets.push_back(found["offset"]);
    if (page["next_cursor"].is_null()) break;
    page = search(job, "text=LINE%2012&limit=300&cursor=" + page["next_cursor"].get<std::string>());
  }
  ASSERT_EQ(offsets.size(), 1'000U);
  EXPECT_EQ(calls, 4);
  for (size_t i = 0; i < offsets.size(); ++i) {
    EXPECT_EQ(offsets[i], static_cast<int64_t>(12'000 + i) * kLineBytes);
  }
  EXPECT_EQ(page["logs_done"], 1);
  EXPECT_EQ(page["logs"], 1);
  EXPECT_EQ(search(job, "text=LINE%2012&match_case=true")["lines"].size(), 0U);
  const json timed = search(job, "text=line&since=2026-11-20T08:20:34Z&until=2026-11-20T08:20:36Z");
  ASSERT_EQ(timed["lines"].size(), 3U);
  EXPECT_EQ(timed["lines"][0]["text"], "line 01234");
  EXPECT_EQ(timed["lines"][0]["at"], "2026-11-20T08:20:34.000Z");
  EXPECT_EQ(timed["lines"][0]["attempt"], 1);
}

TEST_F(Logs, ALineThatIsBeingWrittenIsNotTakenForAWholeOne) {
  const int64_t job = submit("half");
  server_.write_log(line(0) + line(1) + "2026-11-20T08:00:02.000Z a half");
  EXPECT_EQ(search(job, "text=half")["lines"].size(), 0U);
  const json page = search(job, "text=line");
  EXPECT_EQ(page["lines"].size(), 2U);
  EXPECT_EQ(page["logs_done"], 1);
  EXPECT_TRUE(page["next_cursor"].is_null());
  server_.write_log("-written line\n");
  const json whole = search(job, "text=half");
  ASSERT_EQ(whole["lines"].size(), 1U);
  EXPECT_EQ(whole["lines"][0]["text"], "a half-written line");
}

TEST_F(Logs, ASearchIsRefusedWithAReason) {
  const int64_t job = submit("refused");
  const auto status_of = [&](const std::string& query, const std::string& token) {
    return ask("GET", fmt::format("/api/v1/jobs/{}/logs/search?{}", job, query), "", "", token)
        .status;
  };
  const std::string admin = LiveServer::kAdminToken;
  EXPECT_EQ(status_of("", admin), 400);
  EXPECT_EQ(status_of("text=x&cursor=nonsense", admin), 400);
  EXPECT_EQ(status_of("text=x&since=1969-12-31T23:59:59Z", admin), 400);
  EXPECT_EQ(status_of("text=x&until=1969-12-31T23:59:59Z", admin), 400);
  EXPECT_EQ(status_of("text=x&rank=7", admin), 404);
  EXPECT_EQ(status_of("text=x&attempt=7", admin), 404);
  EXPECT_EQ(status_of("text=" + std::string(201, 'x'), admin), 400);
  EXPECT_EQ(status_of("text=x", token_of("bob", "user")), 403);
}

}  // namespace
}  // namespace hai
