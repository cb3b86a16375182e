// The HTTP port over TLS: who is believed, files that change, and those who never shake hands.

#include <gtest/gtest.h>

#include "common/tls/tls_client.h"
#include "server/http/http_server.h"
#include "tests/support/certificates.h"
#include "tests/unit/http/http_client.h"

namespace hai {
namespace {

std::unique_ptr<HttpServer> serve(const TlsFiles& tls, HttpLimits limits = {}) {
  Result<std::unique_ptr<HttpServer>> server = HttpServer::start(
      "0.0.0.0:0", limits,
      [](const HttpRequest& request, HttpRespond respond) {
        respond({.content_type = "text/plain", .body = "you asked " + request.path});
      },
      tls);
  EXPECT_TRUE(server.is_ok()) << server.status().message();
  return std::move(server).value();
}

Result<std::unique_ptr<TlsClient>> dial(const HttpServer& server, const std::string& ca,
                                        const std::string& host = "127.0.0.1") {
  return TlsClient::connect(
      {.address = host + ":" + std::to_string(server.port()), .texts = {.ca = ca}});
}

std::string ask(TlsClient& client) {
  EXPECT_TRUE(client.send("GET /a HTTP/1.0\r\n\r\n").is_ok());
  const Result<std::string> answer = client.read_all(1 << 20);
  return answer.is_ok() ? answer.value() : answer.status().message();
}

TEST(HttpTls, AnswersThoseWhoBelieveIt) {
  TestAuthority ca;
  auto server = serve(ca.server("s", {"127.0.0.1"}));
  auto client = dial(*server, ca.ca_text());
  ASSERT_TRUE(client.is_ok()) << client.status().message();
  const std::string answer = ask(*client.value());
  EXPECT_NE(answer.find("you asked /a"), std::string::npos) << answer;
}

TEST(HttpTls, WhoDoesNotBelieveIsToldWhy) {
  TestAuthority ca;
  TestAuthority other;
  auto server = serve(ca.server("s", {"127.0.0.1"}));
  const auto said = [&](const std::string& believed, const std::string& host) {
    return dial(*server, believed, host).status().message();
  };
  EXPECT_NE(said(other.ca_text(), "127.0.0.1").find("is of a CA that is not believed here"),
            std::string::npos);
  EXPECT_NE(said(ca.ca_text(), "127.0.0.2").find("is not for '127.0.0.2' but for 127.0.0.1: "),
            std::string::npos)
      << said(ca.ca_text(), "127.0.0.2");
  EXPECT_EQ(http_get(server->port(), "/").find("you asked"), std::string::npos);
}

TEST(HttpTls, TakesNewFilesAndKeepsTheOldOnesIfTheyAreNoGood) {
  TestAuthority ca;
  const TlsFiles files = ca.server("s", {"127.0.0.1"});
  auto server = serve(files);
  auto before = dial(*server, ca.ca_text());
  ASSERT_TRUE(before.is_ok());
  ca.server("s", {"127.0.0.2"});
  EXPECT_TRUE(dial(*server, ca.ca_text(), "127.0.0.2").is_ok());
  EXPECT_FALSE(dial(*server, ca.ca_text(), "127.0.0.1").is_ok());
  ca.write("s.crt", "nothing");
  EXPECT_TRUE(dial(*server, ca.ca_text(), "127.0.0.2").is_ok());
  EXPECT_NE(ask(*before.value()).find("you asked"), std::string::npos) << "it goes on as it began";
}

TEST(HttpTls, WhoNeverShakesHandsIsCutOffAndMakesRoom) {
  TestAuthority ca;
  HttpLimits limits;
  limits.tls_timeout = 50ms;
  auto server = serve(ca.server("s", {"127.0.0.1"}), limits);
  EXPECT_EQ(HttpClient(server->port()).read_until(), "");

  limits.tls_timeout = 1h;
  limits.connections = 2;
  auto small = serve(ca.server("s", {"127.0.0.1"}), limits);
  HttpClient first(small->port());
  HttpClient second(small->port());
  auto third = dial(*small, ca.ca_text());
  ASSERT_TRUE(third.is_ok()) << third.status().message();
  EXPECT_NE(ask(*third.value()).find("you asked"), std::string::npos);
  EXPECT_EQ(first.read_until(), "") << "the oldest stranger has made room";
}

TEST(HttpTls, FilesThatAreNoGoodStopTheStart) {
  TestAuthority ca;
  TlsFiles files = ca.server("s", {"127.0.0.1"}, -1);
  const Status status = HttpServer::start(
                            "127.0.0.1:0", {}, [](const HttpRequest&, HttpRespond) {}, files)
                            .status();
  EXPECT_NE(status.message().find("has expired"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace hai
