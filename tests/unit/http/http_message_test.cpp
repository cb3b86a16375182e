#include "server/http/http_message.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

TEST(HttpMessage, TargetsAreSplitAndDecoded) {
  HttpRequest request;
  ASSERT_TRUE(
      parse_target("/api/v1/jobs/a%20b?state=running&state=queued&q=a+b%26c&flag", request));
  EXPECT_EQ(request.path, "/api/v1/jobs/a b");
  EXPECT_EQ(request.query[0], std::pair(std::string("state"), std::string("running")));
  EXPECT_EQ(request.query[1], std::pair(std::string("state"), std::string("queued")));
  EXPECT_EQ(request.query_value("q"), "a b&c");
  EXPECT_EQ(request.query_value("flag"), "");
  EXPECT_EQ(request.query_value("none"), "");
}

TEST(HttpMessage, BrokenTargetsAreRefused) {
  for (const char* target : {"", "*", "jobs", "/%", "/%4", "/%zz", "/a%00b", "/%0a", "/?a=%f"}) {
    HttpRequest request;
    EXPECT_FALSE(parse_target(target, request)) << target;
  }
}

}  // namespace
}  // namespace hai
