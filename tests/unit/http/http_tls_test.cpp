// The HTTP port over TLS: who is believed, files that change, and those who never shake hands.

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <future>

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

// The first words of a client.
std::string client_hello() {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  SSL* ssl = SSL_new(context);
  SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_connect_state(ssl);
  EXPECT_EQ(SSL_do_handshake(ssl), -1) << "it waits for an answer";
  std::string hello(16'384, '\0');
  const int size = BIO_read(SSL_get_wbio(ssl), hello.data(), static_cast<int>(hello.size()));
  EXPECT_GT(size, 0);
  hello.resize(static_cast<size_t>(std::max(size, 0)));
  SSL_free(ssl);
  SSL_CTX_free(context);
  return hello;
}

TEST(HttpTls, ManyHandshakesOfOneAddressLetAnothersGoFirst) {
  constexpr size_t kFlood = 100;
  TestAuthority ca;
  std::promise<void> is_busy;
  std::promise<void> go_on;
  auto server = HttpServer::start(
      "127.0.0.1:0", {},
      [&](const HttpRequest&, HttpRespond respond) {
        is_busy.set_value();
        go_on.get_future().wait();
        respond({});
      },
      ca.server("s", {"127.0.0.1"}));
  ASSERT_TRUE(server.is_ok());
  auto blocker = dial(*server.value(), ca.ca_text());
  ASSERT_TRUE(blocker.is_ok());
  ASSERT_TRUE(blocker.value()->send("GET / HTTP/1.0\r\n\r\n").is_ok());
  is_busy.get_future().wait();
  // All of them are there when the server's thread turns to them.
  const std::string hello = client_hello();
  std::vector<std::unique_ptr<HttpClient>> flood;
  for (size_t i = 0; i < kFlood; ++i) {
    flood.push_back(std::make_unique<HttpClient>(server.value()->port()));
    flood.back()->send(hello);
  }
  HttpClient other(server.value()->port(), INADDR_LOOPBACK + 1);
  other.send(hello);
  go_on.set_value();
  other.hear();
  const auto answered =
      std::count_if(flood.begin(), flood.end(), [](const auto& one) { return one->has_heard(); });
  EXPECT_TRUE(other.has_heard());
  EXPECT_LT(static_cast<size_t>(answered), kFlood * 3 / 4);
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
