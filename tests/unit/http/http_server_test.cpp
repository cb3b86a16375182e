#include "server/http/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/unit/http/http_client.h"

namespace hai {
namespace {

std::unique_ptr<HttpServer> serve(HttpServer::Handler handler, HttpLimits limits = {}) {
  Result<std::unique_ptr<HttpServer>> server =
      HttpServer::start("127.0.0.1:0", limits, std::move(handler));
  EXPECT_TRUE(server.is_ok()) << server.status().message();
  return std::move(server).value();
}

void echo(const HttpRequest& request, HttpRespond respond) {
  respond({.content_type = "text/plain",
           .body = request.method + " " + request.path + " " + request.body});
}

TEST(HttpServer, AnswersAndKeepsTheConnection) {
  auto server = serve(echo);
  const std::string answer =
      http_exchange(server->port(),
                    "POST /a HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\nxyz"
                    "GET /b HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
  EXPECT_NE(answer.find("POST /a xyz"), std::string::npos) << answer;
  EXPECT_NE(answer.find("GET /b "), std::string::npos) << answer;
}

// Limits, log and audit go by it.
TEST(HttpServer, WhoComesByIpv4ToASocketOfIpv6HasHisIpv4Address) {
  Result<std::unique_ptr<HttpServer>> server =
      HttpServer::start("[::]:0", {}, [](const HttpRequest& request, HttpRespond respond) {
        respond({.content_type = "text/plain", .body = "<" + request.peer + ">"});
      });
  if (server.status().code() == Code::unavailable) GTEST_SKIP() << server.status().message();
  ASSERT_TRUE(server.is_ok()) << server.status().message();
  const std::string answer = http_get(server.value()->port(), "/");
  EXPECT_NE(answer.find("<127.0.0.1>"), std::string::npos) << answer;
}

TEST(HttpServer, HandlersMayAnswerLaterFromAnotherThreadAndOnlyOnce) {
  std::thread worker;
  auto server = serve([&](const HttpRequest&, HttpRespond respond) {
    worker = std::thread([respond] {
      respond({.body = "first"});
      respond({.body = "second"});
    });
  });
  const std::string answer = http_get(server->port(), "/");
  worker.join();
  EXPECT_NE(answer.find("first"), std::string::npos);
  EXPECT_EQ(answer.find("second"), std::string::npos);
}

TEST(HttpServer, LimitsAreKept) {
  HttpLimits limits;
  limits.header_bytes = 1'000;
  limits.body_bytes = 100;
  auto server = serve(echo, limits);
  EXPECT_NE(http_get(server->port(), "/", "X: " + std::string(2'000, 'x') + "\r\n").find(" 431 "),
            std::string::npos);
  EXPECT_NE(
      http_exchange(server->port(), "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 101\r\n\r\n")
          .find(" 413 "),
      std::string::npos);
  EXPECT_NE(http_exchange(server->port(), "nonsense\r\n\r\n").find(" 400 "), std::string::npos);
  EXPECT_NE(http_get(server->port(), "/%zz").find(" 400 "), std::string::npos);
}

TEST(HttpServer, ASilentClientAndASilentHandlerTimeOut) {
  HttpLimits limits;
  limits.read_timeout = 50ms;
  limits.answer_timeout = 50ms;
  auto server = serve([](const HttpRequest&, HttpRespond) {}, limits);
  EXPECT_EQ(http_exchange(server->port(), "GET / HT"), "");
  EXPECT_NE(http_get(server->port(), "/").find(" 504 "), std::string::npos);
}

TEST(HttpServer, TooManyConnectionsAreCut) {
  HttpLimits limits;
  limits.connections = 0;
  auto server = serve(echo, limits);
  EXPECT_EQ(http_get(server->port(), "/"), "");
}

HttpLimits knowing_ann() {
  HttpLimits limits;
  limits.connections = 3;
  limits.body_bytes = 1'000;
  limits.strangers_body_bytes = 100;
  limits.who = [](const HttpRequest& head) {
    const std::string name(head.header("x-name"));
    return name.empty() ? std::nullopt : std::optional(name);
  };
  return limits;
}

TEST(HttpServer, LittleIsReadOfStrangers) {
  auto server = serve(echo, knowing_ann());
  const std::string post =
      "POST / HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Length: 101\r\n";
  const std::string body(101, 'x');
  EXPECT_NE(http_exchange(server->port(), post + "\r\n" + body).find(" 413 "), std::string::npos);
  EXPECT_NE(http_exchange(server->port(), post + "X-Name: ann\r\n\r\n" + body).find(" 200 "),
            std::string::npos);
}

TEST(HttpServer, StrangersMakeRoomForWhoeverComes) {
  auto server = serve(echo, knowing_ann());
  HttpClient ann(server->port());
  ann.send("GET / HTTP/1.1\r\nHost: t\r\nX-Name: ann\r\n\r\n");
  EXPECT_NE(ann.read_until("\r\n\r\n").find(" 200 "), std::string::npos);
  std::vector<std::unique_ptr<HttpClient>> idle;
  for (int i = 0; i < 10; ++i) idle.push_back(std::make_unique<HttpClient>(server->port()));
  EXPECT_NE(http_get(server->port(), "/").find(" 200 "), std::string::npos)
      << "idle connections keep nobody out";
  ann.send("GET / HTTP/1.1\r\nHost: t\r\nX-Name: ann\r\n\r\n");
  EXPECT_NE(ann.read_until("\r\n\r\n").find(" 200 "), std::string::npos)
      << "whoever is known keeps his connection";
}

TEST(HttpServer, TheAddressWithTheMostStrangersMakesRoom) {
  HttpLimits limits = knowing_ann();
  limits.connections = 8;
  auto server = serve(echo, limits);
  HttpClient quiet(server->port(), INADDR_LOOPBACK + 1);  // the oldest stranger
  std::vector<std::unique_ptr<HttpClient>> flood;
  for (int i = 0; i < 40; ++i) flood.push_back(std::make_unique<HttpClient>(server->port()));
  EXPECT_EQ(flood[0]->read_until(), "") << "it was cut";
  quiet.send("GET / HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_NE(quiet.read_until("\r\n\r\n").find(" 200 "), std::string::npos);
}

// Known to be somebody, by a request that was answered.
std::unique_ptr<HttpClient> connected(int port, const std::string& name) {
  auto client = std::make_unique<HttpClient>(port);
  client->send("GET / HTTP/1.1\r\nHost: t\r\nX-Name: " + name + "\r\n\r\n");
  EXPECT_NE(client->read_until("\r\n\r\n").find(" 200 "), std::string::npos) << name;
  return client;
}

TEST(HttpServer, WhoeverHasTheMostConnectionsMakesRoom) {
  HttpLimits limits = knowing_ann();
  limits.connections = 8;
  auto server = serve(echo, limits);
  auto ann = connected(server->port(), "ann");
  std::vector<std::unique_ptr<HttpClient>> of_bob;
  for (int i = 0; i < 20; ++i) of_bob.push_back(connected(server->port(), "bob"));
  auto cid = connected(server->port(), "cid");
  EXPECT_EQ(of_bob[0]->read_until("\n"), "") << "it was cut";
  for (HttpClient* client : {ann.get(), cid.get(), of_bob.back().get()}) {
    client->send("GET / HTTP/1.1\r\nHost: t\r\nX-Name: x\r\n\r\n");
    EXPECT_NE(client->read_until("\r\n\r\n").find(" 200 "), std::string::npos);
  }
}

TEST(HttpServer, WhereEachHasOneNobodyIsCutForAnother) {
  HttpLimits limits = knowing_ann();
  auto server = serve(echo, limits);
  std::vector<std::unique_ptr<HttpClient>> all;
  for (const char* name : {"ann", "bob", "cid"}) all.push_back(connected(server->port(), name));
  EXPECT_EQ(http_get(server->port(), "/"), "");
  for (const auto& client : all) {
    client->send("GET / HTTP/1.1\r\nHost: t\r\nX-Name: x\r\n\r\n");
    EXPECT_NE(client->read_until("\r\n\r\n").find(" 200 "), std::string::npos);
  }
}

TEST(HttpServer, AnExceptionIsAnAnswer) {
  auto server =
      serve([](const HttpRequest&, HttpRespond) { throw std::runtime_error("odd library"); });
  EXPECT_NE(http_get(server->port(), "/").find(" 500 "), std::string::npos);
}

TEST(HttpServer, StreamsPieceByPiece) {
  auto server = serve([](const HttpRequest&, HttpRespond respond) {
    auto left = std::make_shared<int>(3);
    respond({.content_type = "text/event-stream",
             .body = "start\n",
             .stream = [left](HttpChunkDone done) {
               if (*left == 0) return done(std::nullopt);
               done("piece " + std::to_string((*left)--) + "\n");
             }});
  });
  const std::string answer = http_get(server->port(), "/");
  EXPECT_NE(answer.find("start\npiece 3\npiece 2\npiece 1\n"), std::string::npos) << answer;
}

TEST(HttpServer, StopsWhileClientsAreConnected) {
  std::atomic<bool> asked = false;
  auto server = serve([&](const HttpRequest&, HttpRespond) { asked = true; });
  std::thread client([port = server->port()] { http_get(port, "/"); });
  while (!asked) std::this_thread::yield();
  server.reset();
  client.join();
}

TEST(HttpServer, APortInUseIsAnError) {
  auto server = serve(echo);
  auto second = HttpServer::start(fmt::format("127.0.0.1:{}", server->port()), {}, echo);
  ASSERT_FALSE(second.is_ok());
  EXPECT_EQ(second.status().code(), Code::unavailable);
  EXPECT_FALSE(HttpServer::start("no-port", {}, echo).is_ok());
}

}  // namespace
}  // namespace hai
