// What a server that does not lead answers.

#include "server/http/standing_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hai {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

HttpRequest request(const std::string& method, const std::string& target) {
  HttpRequest request{.method = method};
  EXPECT_TRUE(parse_target(target, request));
  return request;
}

const Standing kStandby{.reason = "n1:7 leads with epoch 3, its lease ends in 900 ms",
                        .leader = {.grpc = "n1:7700", .http = "n1:7780"}};
const Standing kStale{
    .reason = "connection refused", .stale_since = unix_micros(0), .store_is_away = true};

TEST(Standing, ALeaderAnswersEverything) {
  const Standing leader{.mode = ServerMode::leading, .reason = ""};
  EXPECT_FALSE(redirect_or_refuse(leader, "http", request("POST", "/api/v1/jobs")).has_value());
  EXPECT_EQ(readiness_text(leader), "leading");
}

TEST(Standing, AStandbySendsRequestsToTheLeaderAsTheyAre) {
  const auto answer =
      redirect_or_refuse(kStandby, "http", request("POST", "/api/v1/jobs/a%20b/stop?x=%2F&y"));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 307);
  EXPECT_THAT(answer->headers,
              Contains(Pair("Location", "http://n1:7780/api/v1/jobs/a%20b/stop?x=%2F&y")));
  EXPECT_EQ(readiness_text(kStandby), "standby; n1:7700 leads");
}

TEST(Standing, HealthIsAnsweredByEveryServer) {
  for (const char* path : {"/livez", "/readyz", "/metrics", "/version"}) {
    EXPECT_FALSE(redirect_or_refuse(kStandby, "http", request("GET", path)).has_value()) << path;
  }
}

TEST(Standing, WithoutAKnownLeaderTheAnswerIsToRetry) {
  const auto answer =
      redirect_or_refuse({.reason = "starting"}, "http", request("GET", "/api/v1/jobs"));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, 503);
  EXPECT_THAT(answer->headers, Contains(Pair("Retry-After", "1")));
  EXPECT_EQ(answer->content_type, "application/problem+json");
}

TEST(Standing, WithoutTheDatabaseReadsAreMarkedAndWritesRefused) {
  EXPECT_FALSE(redirect_or_refuse(kStale, "http", request("GET", "/api/v1/jobs")).has_value());
  const auto refused = redirect_or_refuse(kStale, "http", request("POST", "/api/v1/jobs"));
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 503);
  EXPECT_THAT(refused->body, HasSubstr("the database cannot be reached: connection refused; "
                                       "nothing was changed, retry"));
  HttpResponse now{.body = "[]"};
  mark_stale(kStale, now);
  EXPECT_THAT(now.headers, Contains(Pair("Hai-Stale-Since", "1970-01-01T00:00:00.000Z")));
  EXPECT_THAT(now.headers,
              Contains(Pair("Warning", "110 - \"stale since 1970-01-01T00:00:00.000Z\"")));
  HttpResponse later{.render = [] { return HttpResponse{.body = "[]"}; }};
  mark_stale(kStale, later);
  EXPECT_EQ(later.render().headers.size(), 2u);
  HttpResponse error{.status = 404};
  mark_stale(kStale, error);
  EXPECT_TRUE(error.headers.empty());
}

}  // namespace
}  // namespace hai
