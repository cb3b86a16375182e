#pragma once
// REST as a client sees it, over loopback, with a real controller behind it.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/live_server.h"
#include "tests/unit/http/http_client.h"

namespace hai {

class RoutesFixture : public ::testing::Test {
 protected:
  using json = nlohmann::json;
  // `change` what the server is told before it starts.
  explicit RoutesFixture(const std::function<void(ServerConfig&, ServingSecrets&)>& change = {})
      : server_(change) {}

  struct Answer {
    int status = 0;
    std::string head;
    std::string body;
    json content() const { return json::parse(body, nullptr, false); }
  };

  Answer ask(const std::string& method, const std::string& path, const std::string& body = "",
             const std::string& headers = "", const std::string& token = LiveServer::kAdminToken) {
    std::string request = method + " " + path + " HTTP/1.1\r\nHost: t\r\nConnection: close\r\n";
    if (!token.empty()) request += "Authorization: Bearer " + token + "\r\n";
    request += headers + fmt::format("Content-Length: {}\r\n\r\n", body.size()) + body;
    const std::string text = http_exchange(server_.http_port(), request);
    Answer answer;
    const size_t split = text.find("\r\n\r\n");
    if (split == std::string::npos || text.size() < 12) return answer;
    answer.status = std::stoi(text.substr(9, 3));
    answer.head = text.substr(0, split);
    answer.body = text.substr(split + 4);
    if (answer.head.find("Transfer-Encoding: chunked") != std::string::npos) {
      answer.body = without_chunks(answer.body);
    }
    return answer;
  }
  // A body that was cut off says so at its end.
  static std::string without_chunks(const std::string& body) {
    std::string text;
    for (size_t at = 0;;) {
      const size_t line = body.find("\r\n", at);
      if (line == std::string::npos) return text + "[cut off]";
      const size_t size = std::stoul(body.substr(at, line - at), nullptr, 16);
      if (size == 0) return text;
      text += body.substr(line + 2, size);
      at = line + 2 + size + 2;
    }
  }
  // Of another user, made here.
  std::string token_of(const std::string& user, const std::string& role) {
    EXPECT_EQ(ask("PUT", "/api/v1/users/" + user, json{{"role", role}}.dump()).status, 200);
    const Answer token = ask("POST", "/api/v1/tokens", json{{"user", user}}.dump());
    EXPECT_EQ(token.status, 201) << token.body;
    return token.content().value("secret", "");
  }
  Answer get(const std::string& path) { return ask("GET", path); }

  static std::string yaml(const std::string& name) {
    return "version: 2\nname: " + name +
           "\nspec: {workspace: /data, entrypoint: train.py}\nresource: {node_count: 1}\n";
  }

  int64_t submit(const std::string& name, const std::string& more = "") {
    const Answer answer = ask("POST", "/api/v1/jobs", yaml(name) + more);
    EXPECT_EQ(answer.status, 201) << answer.body;
    const int64_t id = answer.content().value("id", 0);
    EXPECT_TRUE(server_.eventually([id](Controller& controller) {
      const Job* job = controller.state().find(JobId{id});
      return job != nullptr && job->state == JobState::running;
    }));
    return id;
  }

  LiveServer server_;
};

}  // namespace hai
