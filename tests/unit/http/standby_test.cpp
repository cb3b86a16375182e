// Every route of schemas/openapi.yaml, asked of a server that does not lead: sent to the leader, or
// told to come back, as docs/reliability.md says. That there is no other route is checked at start.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "common/tls/tls_client.h"
#include "server/http/openapi.h"
#include "tests/support/certificates.h"
#include "tests/support/standby_server.h"
#include "tests/unit/http/http_client.h"

namespace hai {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Route {
  std::string method;
  std::string target;
};

// With an id for each parameter.
std::vector<Route> all_routes() {
  static const std::regex kParameter(R"(\{[^}]*\})");
  std::vector<Route> routes;
  for (const std::string& operation : Openapi().operations()) {
    const size_t space = operation.find(' ');
    routes.push_back({operation.substr(0, space),
                      std::regex_replace(operation.substr(space + 1), kParameter, "7")});
  }
  return routes;
}

std::string ask(const StandbyServer& server, const Route& route) {
  return http_exchange(server.http_port(),
                       fmt::format("{} {} HTTP/1.1\r\nHost: t\r\nConnection: close\r\n"
                                   "Content-Length: 2\r\n\r\n{{}}",
                                   route.method, route.target));
}

// What tells how this very server is, and not the cluster.
bool is_of_the_server(const Route& route) { return !route.target.starts_with("/api/"); }

TEST(StandbyRoutes, AreSentToTheLeaderAsTheyWereAsked) {
  StandbyServer server({.grpc = "10.0.0.1:7700", .http = "10.0.0.1:7780"});
  int sent = 0;
  for (const Route& route : all_routes()) {
    const std::string answer = ask(server, {route.method, route.target + "?x=%2F"});
    if (is_of_the_server(route)) {
      EXPECT_THAT(answer, Not(StartsWith("HTTP/1.1 307"))) << route.target;
      continue;
    }
    ++sent;
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 307 ")) << route.method << " " << route.target;
    EXPECT_THAT(answer,
                HasSubstr(fmt::format("Location: http://10.0.0.1:7780{}?x=%2F\r\n", route.target)))
        << route.method;
  }
  EXPECT_GE(sent, 40);
}

TEST(StandbyRoutes, OverTlsTheLeaderIsAskedOverTls) {
  TestAuthority ca;
  StandbyServer server({.grpc = "10.0.0.1:7700", .http = "10.0.0.1:7780"},
                       ca.server("s", {"127.0.0.1"}));
  auto client = TlsClient::connect(
      {.address = fmt::format("127.0.0.1:{}", server.http_port()), .texts = {.ca = ca.ca_text()}});
  ASSERT_TRUE(client.is_ok()) << client.status().message();
  ASSERT_TRUE(client.value()->send("GET /api/v1/jobs HTTP/1.0\r\n\r\n").is_ok());
  EXPECT_THAT(client.value()->read_all(1 << 16).value(),
              HasSubstr("Location: https://10.0.0.1:7780/api/v1/jobs\r\n"));
}

TEST(StandbyRoutes, LargeBodiesAreSentOnUnread) {
  StandbyServer server({.grpc = "10.0.0.1:7700", .http = "10.0.0.1:7780"});
  const std::string answer =
      http_exchange(server.http_port(),
                    "POST /api/v1/jobs HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n" +
                        std::string(1'000'000, 'x'));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 307 "));
}

TEST(StandbyRoutes, AreRefusedForAWhileIfNobodySaysWhereTheLeaderIs) {
  StandbyServer server({});
  for (const Route& route : all_routes()) {
    if (is_of_the_server(route)) continue;
    const std::string answer = ask(server, route);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 ")) << route.method << " " << route.target;
    EXPECT_THAT(answer, HasSubstr("Retry-After: 1\r\n")) << route.method << " " << route.target;
    EXPECT_THAT(answer, HasSubstr("this server does not lead: another server leads"))
        << route.target;
  }
}

TEST(StandbyRoutes, TellThatTheServerLivesAndIsNotReady) {
  StandbyServer server({.grpc = "10.0.0.1:7700", .http = "10.0.0.1:7780"});
  EXPECT_THAT(ask(server, {"GET", "/livez"}), StartsWith("HTTP/1.1 200 "));
  const std::string ready = ask(server, {"GET", "/readyz"});
  EXPECT_THAT(ready, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(ready, HasSubstr("standby; 10.0.0.1:7700 leads"));
}

}  // namespace
}  // namespace hai
