// A browser's way into a rank: a WebSocket at the server, and the agent's stream behind it.

#include "server/http/web_shell.h"

#include <nlohmann/json.hpp>

#include "tests/unit/http/http_client.h"
#include "tests/unit/rpc/shell_browser.h"
#include "tests/unit/rpc/shells_fixture.h"

namespace hai {
namespace {

using nlohmann::json;

class WebShells : public ShellsOfServer {
 protected:
  static json opening() {
    return {{"open", {{"rank", 0}, {"argv", {"cat"}}, {"rows", 24}, {"columns", 80}}}};
  }
  // The status line and headers of what answers a request for a WebSocket.
  std::string answer(const std::string& headers) {
    return http_exchange(server_.http_port(),
                         "GET /api/v1/jobs/train/shell HTTP/1.1\r\nHost: hai:80\r\n" + headers +
                             "Connection: Upgrade, close\r\nUpgrade: websocket\r\n"
                             "Sec-WebSocket-Version: 13\r\n"
                             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                         "\r\n\r\n");
  }
};

TEST_F(WebShells, CarryWhatIsTypedAndWhatComesOfIt) {
  ShellBrowser ann(server_.http_port(), "train", LiveServer::kAdminToken);
  ann.say(opening());
  const auto node = agent(ticket());
  const ShellRequest asked = server_.asked_shells().back();
  EXPECT_EQ(asked.program.argv, std::vector<std::string>{"cat"});
  EXPECT_EQ(asked.program.terminal, (TerminalSize{.rows = 24, .columns = 80}));
  node->say(started());
  EXPECT_EQ(json::parse(ann.hear())["started"]["node"], "n1");
  ann.type(std::string("a\0b", 3));
  EXPECT_EQ(node->hear().input(), std::string("a\0b", 3));
  ann.say({{"size", {{"rows", 50}, {"columns", 120}}}});
  EXPECT_EQ(node->hear().size().columns(), 120);
  ann.say({{"of a newer page", 1}});
  node->say(output("\xff\x00"));
  EXPECT_EQ(ann.hear(), "\xff");
  node->say(ended(3));
  EXPECT_EQ(json::parse(ann.hear())["end"]["exit_code"], 3);
  EXPECT_EQ(ann.hear(), "");
  EXPECT_TRUE(node->end().ok());
}

TEST_F(WebShells, EndWithEitherSideAndSayWhy) {
  ShellBrowser ann(server_.http_port(), "train", LiveServer::kAdminToken);
  ann.say(opening());
  const auto node = agent(ticket());
  node->say(started());
  ann.hear();
  node->leave();
  const json last = json::parse(ann.hear());
  EXPECT_EQ(last["error"]["code"], "unavailable");
  EXPECT_EQ(ann.hear(), "");

  ShellBrowser bob(server_.http_port(), "train", LiveServer::kAdminToken);
  bob.say(opening());
  const auto again = agent(ticket(2));
  again->say(started());
  bob.hear();
  bob.leave();
  EXPECT_EQ(again->end().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(WebShells, SendNoMoreThanIsShown) {
  ShellBrowser ann(server_.http_port(), "train", LiveServer::kAdminToken);
  ann.say(opening());
  const auto node = agent(ticket());
  node->say(started());
  ann.hear();
  constexpr size_t kPiece = 32 << 10;
  constexpr size_t kPieces = 3 * WebShell::kWindow / kPiece;
  std::thread writer([&] {
    for (size_t i = 0; i < kPieces; ++i) node->say(output(std::string(kPiece, 'x')));
    node->say(output("the last"));
  });
  size_t heard = 0;
  while (heard <= WebShell::kWindow) heard += ann.hear().size();
  // What was typed is heard while the output waits, and so is what was shown.
  ann.type("typed");
  EXPECT_EQ(node->hear().input(), "typed");
  std::string last;
  while (last != "the last") {
    ann.say({{"shown", kPiece}});
    last = ann.hear();
  }
  writer.join();
}

// Also in pieces that are nothing each: what is kept of them is something.
TEST_F(WebShells, EndWhereTooMuchIsTypedThatNobodyReads) {
  for (const size_t piece : {size_t{0}, size_t{32} << 10}) {
    ShellBrowser ann(server_.http_port(), "train", LiveServer::kAdminToken);
    ann.say(opening());
    const auto node = agent(ticket(piece == 0 ? 1 : 2));
    node->say(started());
    ann.hear();
    // The agent takes nothing; how much fits into what is between it and the server, both decide.
    constexpr size_t kMost = 256 << 20;
    const size_t cost = piece + WebShell::kMessageCost;
    for (size_t typed = 0; typed < kMost && !ann.is_spoken_to(); typed += cost) {
      ann.type(std::string(piece, 'x'));
    }
    EXPECT_EQ(json::parse(ann.hear())["error"]["code"], "resource_exhausted");
  }
}

TEST_F(WebShells, AreAuditedWhenTheyAreRefused) {
  answer(std::string("Authorization: Bearer ") + LiveServer::kAdminToken +
         "\r\nOrigin: https://evil.example\r\n");
  const auto is_noted = [&] {
    for (const AuditEntry& entry : server_.audited()) {
      if (entry.call == "Shell" && entry.result == "permission_denied") return true;
    }
    return false;
  };
  EXPECT_TRUE(server_.eventually([&](Controller&) { return is_noted(); }));
}

TEST_F(WebShells, RefuseWhatIsNoMessage) {
  for (const json& words : {json{{"size", {{"rows", 1}, {"columns", 1}}}}, json{1, 2}, json("x"),
                            json{{"open", {{"rank", "zero"}}}}, json{{"open", {{"argv", "cat"}}}},
                            json{{"open", {{"rank", 7}}}}, json{{"open", {{"rows", -1}}}}}) {
    ShellBrowser ann(server_.http_port(), "train", LiveServer::kAdminToken);
    ann.say(words);
    const json last = json::parse(ann.hear());
    EXPECT_TRUE(last.contains("error")) << words;
    EXPECT_EQ(ann.hear(), "");
  }
  ShellBrowser ann(server_.http_port(), "train", LiveServer::kAdminToken);
  ann.type(std::string(HttpSocket::kMessageBytesMax + 1, 'x'));
  EXPECT_EQ(ann.hear(), "") << "too long";
  EXPECT_TRUE(server_.asked_shells().empty());
}

TEST_F(WebShells, AreNotForOtherPagesAndNotForNobody) {
  const std::string known =
      std::string("Authorization: Bearer ") + LiveServer::kAdminToken + "\r\n";
  EXPECT_NE(answer(known + "Origin: https://hai:80\r\n").find(" 101 "), std::string::npos);
  for (const char* origin :
       {"https://evil.example", "https://hai:81", "null", "https://hai:80.evil"}) {
    const std::string told = answer(known + "Origin: " + origin + "\r\n");
    EXPECT_NE(told.find(" 403 "), std::string::npos) << origin << told;
  }
  EXPECT_NE(answer("").find(" 401 "), std::string::npos);
  EXPECT_NE(answer("Authorization: Bearer hai_wrong\r\n").find(" 401 "), std::string::npos);
  const std::string plain =
      http_exchange(server_.http_port(), "GET /api/v1/jobs/train/shell HTTP/1.1\r\nHost: hai\r\n" +
                                             known + "Connection: close\r\n\r\n");
  EXPECT_NE(plain.find("this takes a WebSocket"), std::string::npos) << plain;
}

}  // namespace
}  // namespace hai
