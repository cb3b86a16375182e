#include "server/http/router.h"

#include <gtest/gtest.h>

namespace hai {
namespace {

HttpResponse ask(const HttpRouter& router, std::string method, std::string path) {
  HttpResponse answer;
  router.route({.method = std::move(method), .path = std::move(path)},
               [&](HttpResponse response) { answer = std::move(response); });
  return answer;
}

HttpRouter make_router() {
  HttpRouter router;
  auto say = [](std::string text) {
    return
        [text](const HttpRequest&, const HttpRouter::Parameters& parameters, HttpRespond respond) {
          auto id = parameters.find("id");
          respond({.body = text + (id == parameters.end() ? "" : ":" + id->second)});
        };
  };
  router.add("GET", "/", say("root"));
  router.add("GET", "/jobs", say("list"));
  router.add("POST", "/jobs", say("submit"));
  router.add("GET", "/jobs/{id}", say("job"));
  router.add("POST", "/jobs/{id}/stop", say("stop"));
  return router;
}

// Two routes may have the same path but for a name in it: the method says which one is meant.
TEST(HttpRouter, NamesTheRouteThatIsAskedFor) {
  HttpRouter router = make_router();
  router.add("POST", "/jobs/actions",
             [](const HttpRequest&, const HttpRouter::Parameters&, HttpRespond) {});
  EXPECT_EQ(router.pattern_of({.method = "POST", .path = "/jobs/actions"}), "/jobs/actions");
  EXPECT_EQ(router.pattern_of({.method = "HEAD", .path = "/jobs/actions"}), "/jobs/{id}");
  EXPECT_EQ(router.pattern_of({.method = "PUT", .path = "/jobs/17"}), "/jobs/{id}");
  EXPECT_EQ(router.pattern_of({.method = "GET", .path = "/nothing"}), "");
}

TEST(HttpRouter, FindsTheHandlerAndItsParameters) {
  const HttpRouter router = make_router();
  EXPECT_EQ(ask(router, "GET", "/").body, "root");
  EXPECT_EQ(ask(router, "GET", "/jobs").body, "list");
  EXPECT_EQ(ask(router, "GET", "/jobs/").body, "list");
  EXPECT_EQ(ask(router, "POST", "/jobs").body, "submit");
  EXPECT_EQ(ask(router, "GET", "/jobs/17").body, "job:17");
  EXPECT_EQ(ask(router, "POST", "/jobs/17/stop").body, "stop:17");
}

// What a path begins with is looked at elsewhere, too: there is one way only to write it.
TEST(HttpRouter, AnEmptySegmentLeadsNowhere) {
  HttpRouter router = make_router();
  for (const char* path : {"//", "//jobs", "///jobs/17", "/jobs//", "/jobs//17"}) {
    EXPECT_EQ(ask(router, "GET", path).status, 404) << path;
    EXPECT_EQ(router.pattern_of({.method = "GET", .path = path}), "") << path;
  }
  EXPECT_EQ(ask(router, "POST", "/jobs//stop").status, 404);
}

TEST(HttpRouter, SaysWhatIsMissing) {
  const HttpRouter router = make_router();
  EXPECT_EQ(ask(router, "GET", "/nothing").status, 404);
  EXPECT_EQ(ask(router, "GET", "/jobs/17/stop/now").status, 404);
  const HttpResponse response = ask(router, "DELETE", "/jobs");
  EXPECT_EQ(response.status, 405);
  ASSERT_EQ(response.headers.size(), 1u);
  EXPECT_EQ(response.headers[0].second, "GET, POST");
}

}  // namespace
}  // namespace hai
