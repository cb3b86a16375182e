#include "server/http/negotiation.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hai {
namespace {

std::string header(const HttpResponse& response, const std::string& name) {
  const auto found =
      std::ranges::find(response.headers, name, &std::pair<std::string, std::string>::first);
  return found == response.headers.end() ? "" : found->second;
}

HttpResponse answer_to(const std::string& method, std::map<std::string, std::string> headers,
                       HttpResponse response) {
  const HttpRequest request{.method = method, .headers = std::move(headers)};
  negotiate(negotiation_of(request), response);
  return response;
}

TEST(Negotiation, WhoHasItAlreadyGetsNoBody) {
  const HttpResponse first = answer_to("GET", {}, {.body = "{}"});
  const std::string etag = header(first, "ETag");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(etag.substr(0, 3), "W/\"");
  EXPECT_EQ(header(first, "Cache-Control"), "private, no-cache");
  const HttpResponse again =
      answer_to("GET", {{"if-none-match", "\"x\", " + etag}}, {.body = "{}"});
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  EXPECT_EQ(header(again, "ETag"), etag);
  EXPECT_EQ(answer_to("GET", {{"if-none-match", etag}}, {.body = "[]"}).status, 200);
}

TEST(Negotiation, OnlyForWhatIsReadAndWentWell) {
  const std::string etag = etag_of("{}");
  EXPECT_EQ(answer_to("POST", {{"if-none-match", etag}}, {.body = "{}"}).status, 200);
  const HttpResponse error =
      answer_to("GET", {{"if-none-match", etag}}, {.status = 404, .body = "{}"});
  EXPECT_EQ(error.status, 404);
  EXPECT_EQ(header(error, "ETag"), "");
}

TEST(Negotiation, LargeTextsAreCompressedForWhoTakesIt) {
  const std::string large(100'000, 'x');
  const HttpResponse zipped = answer_to("GET", {{"accept-encoding", "gzip"}}, {.body = large});
  EXPECT_EQ(header(zipped, "Content-Encoding"), "gzip");
  EXPECT_EQ(header(zipped, "Vary"), "Accept-Encoding");
  EXPECT_LT(zipped.body.size(), 1'000u);
  // The tag is of the content, not of its coding.
  EXPECT_EQ(header(zipped, "ETag"), etag_of(large));
  EXPECT_EQ(answer_to("GET", {}, {.body = large}).body, large);
  EXPECT_EQ(answer_to("GET", {{"accept-encoding", "gzip"}}, {.body = "small"}).body, "small");
  const std::string huge(5 << 20, 'x');
  EXPECT_EQ(answer_to("GET", {{"accept-encoding", "gzip"}}, {.body = huge}).body, huge)
      << "it would hold up other connections";
  EXPECT_EQ(
      answer_to("GET", {{"accept-encoding", "gzip"}}, {.content_type = "font/woff2", .body = large})
          .body,
      large);
}

TEST(Negotiation, ListsOfTags) {
  EXPECT_TRUE(matches_etag("*", "W/\"a\""));
  EXPECT_TRUE(matches_etag(" W/\"b\" , \"a\"", "W/\"a\""));
  for (const char* no : {"", ",", "W/", "\"ab\"", "a"})
    EXPECT_FALSE(matches_etag(no, "\"a\"")) << no;
}

}  // namespace
}  // namespace hai
