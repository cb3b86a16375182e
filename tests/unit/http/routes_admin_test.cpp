// The cluster as a whole, people, tokens and quotas.

#include <gtest/gtest.h>

#include "tests/unit/http/routes_fixture.h"

namespace hai {
namespace {

class AdminRoutes : public RoutesFixture {};

TEST_F(AdminRoutes, TheClusterIsSummedUp) {
  submit("a");
  ask("POST", "/api/v1/jobs", yaml("b") + "priority: low\n");
  ask("POST", "/api/v1/jobs", yaml("c") + "priority: low\n");
  const json cluster = get("/api/v1/cluster").content();
  EXPECT_EQ(cluster["gpus"]["used"], 8);
  EXPECT_EQ(cluster["gpus"]["reserved"], 0);
  EXPECT_EQ(cluster["jobs"]["queued"], 2);
  EXPECT_EQ(cluster["running"]["by_user"]["root"]["gpus"], 8) << cluster;
  EXPECT_EQ(cluster["waiting"]["by_priority"]["low"]["jobs"], 2);
  EXPECT_EQ(cluster["waiting"]["by_group"]["training"]["gpus"], 16) << "whole nodes";
  int waiting = 0;  // whether a pass has seen both yet is a matter of time
  for (const json& sum : cluster["waiting"]["by_reason"]) waiting += sum["jobs"].get<int>();
  EXPECT_EQ(waiting, 2);
}

TEST_F(AdminRoutes, SeriesAreColumns) {
  const json series = get("/api/v1/cluster/series?window=1h").content();
  EXPECT_EQ(series["step_seconds"], 10);
  for (const char* key : {"at", "gpus_total", "gpus_used", "jobs_running", "jobs_queued"}) {
    EXPECT_TRUE(series[key].is_array()) << key;
  }
  EXPECT_EQ(get("/api/v1/cluster/series?window=7d").content()["step_seconds"], 600);
  for (const char* window : {"0s", "soon", "91d", "-1h"}) {
    EXPECT_EQ(get(std::string("/api/v1/cluster/series?window=") + window).status, 400) << window;
  }
}

TEST_F(AdminRoutes, QuotasAreSetAndRemoved) {
  const std::string path = "/api/v1/quotas/ann/training/high";
  EXPECT_EQ(ask("PUT", path, R"({"nodes": 3})").status, 404) << "nobody is called that";
  token_of("ann", "user");
  const Answer set = ask("PUT", path, R"({"nodes": 3})");
  EXPECT_EQ(set.status, 200) << set.body;
  EXPECT_EQ(set.content()["nodes"], 3);
  EXPECT_EQ(set.content()["priority"], "high");
  EXPECT_EQ(get("/api/v1/quotas?owner=ann").content()["quotas"].size(), 1u);
  EXPECT_TRUE(ask("PUT", path, R"({"nodes": null})").content()["nodes"].is_null());
  EXPECT_EQ(ask("PUT", "/api/v1/quotas/ann/training/*", R"({"nodes": 1})").content()["priority"],
            "*");
  EXPECT_EQ(get("/api/v1/quotas?owner=ann").content()["quotas"].size(), 8u);
  EXPECT_EQ(ask("DELETE", path).status, 204);
  EXPECT_EQ(ask("DELETE", path).status, 404);
  EXPECT_EQ(ask("DELETE", "/api/v1/quotas/ann/training/*").status, 204);
  EXPECT_EQ(get("/api/v1/quotas?owner=ann").content()["quotas"].size(), 0u);
  for (const char* body :
       {"", "{}", "[]", R"({"nodes": -1})", R"({"nodes": 1.5})", R"({"nodes": "many"})",
        R"({"nodes": 1, "x": 2})", R"({"nodes": 99999999999999999999})"}) {
    EXPECT_EQ(ask("PUT", path, body).status, 400) << body;
  }
  EXPECT_EQ(ask("PUT", "/api/v1/quotas/ann/training/urgent", R"({"nodes": 1})").status, 400);
  EXPECT_EQ(ask("PUT", "/api/v1/quotas/a%20b/training/high", R"({"nodes": 1})").status, 400);
  EXPECT_EQ(get("/api/v1/quotas?owner=ann").content()["quotas"].size(), 0u) << "nothing changed";
}

TEST_F(AdminRoutes, UsersAreSetPieceByPiece) {
  const json made = ask("PUT", "/api/v1/users/ann", R"({"groups": ["research"]})").content();
  EXPECT_EQ(made,
            json({{"name", "ann"}, {"role", "user"}, {"groups", {"research"}}, {"active", true}}));
  const json promoted = ask("PUT", "/api/v1/users/ann", R"({"role": "operator"})").content();
  EXPECT_EQ(promoted["groups"], json({"research"})) << "what is left out stays";
  EXPECT_EQ(get("/api/v1/users").content()["users"].size(), 2u);
  for (const char* body :
       {"", R"({"role": "king"})", R"({"active": 1})", R"({"groups": "x"})", R"({"name": "x"})"}) {
    EXPECT_EQ(ask("PUT", "/api/v1/users/ann", body).status, 400) << body;
  }
  EXPECT_EQ(ask("PUT", "/api/v1/users/a%20b", "{}").status, 400);
  EXPECT_EQ(ask("PUT", "/api/v1/users/root", R"({"active": false})").status, 409) << "not oneself";
}

TEST_F(AdminRoutes, ATokenIsShownOnceAndCanBeRevoked) {
  const std::string secret = token_of("ann", "user");
  EXPECT_EQ(ask("GET", "/api/v1/whoami", "", "", secret).content()["user"], "ann");
  const json own = ask("POST", "/api/v1/tokens", R"({"label": "laptop"})", "", secret).content();
  EXPECT_EQ(own["label"], "laptop");
  const Answer list = ask("GET", "/api/v1/tokens", "", "", secret);
  EXPECT_EQ(list.content()["tokens"].size(), 2u);
  EXPECT_EQ(list.body.find(secret), std::string::npos);
  EXPECT_EQ(ask("GET", "/api/v1/tokens?user=root", "", "", secret).status, 403);
  EXPECT_EQ(ask("POST", "/api/v1/tokens", R"({"user": "root"})", "", secret).status, 403);
  const std::string path = "/api/v1/tokens/" + own.value("id", "");
  EXPECT_EQ(ask("DELETE", path, "", "", secret).status, 204);
  EXPECT_EQ(ask("DELETE", path, "", "", secret).status, 404);
  EXPECT_EQ(ask("GET", "/api/v1/whoami", "", "", own.value("secret", "")).status, 401);
  EXPECT_EQ(ask("POST", "/api/v1/tokens", R"({"user": "nobody"})").status, 404);
}

TEST_F(AdminRoutes, OfALongNameAnErrorRepeatsNoMoreThanItTakes) {
  const std::string name(4'000, 'x');
  const auto judge = [&](const std::string& method, const std::string& path,
                         const std::string& body = "", int status = 404) {
    const Answer answer = ask(method, path, body);
    EXPECT_EQ(answer.status, status) << method << ' ' << path.substr(0, 30);
    EXPECT_NE(answer.body.find("xxx"), std::string::npos) << answer.body;
    EXPECT_LT(answer.body.size(), 2'500u) << method << ' ' << path.substr(0, 30);
  };
  judge("POST", "/api/v1/tokens", json{{"user", name}}.dump());
  judge("DELETE", "/api/v1/tokens/" + name);
  judge("DELETE", "/api/v1/users/" + name);
  judge("DELETE", "/api/v1/secrets/" + name);
  judge("GET", "/api/v1/nodes/" + name);
  judge("GET", "/api/v1/jobs/" + name);
  judge("GET", "/api/v1/incidents?state=" + name, "", 400);
}

TEST_F(AdminRoutes, NodesTellWhoHasEachGpu) {
  const int64_t id = submit("a");
  const json node = get("/api/v1/nodes/n1").content();
  EXPECT_EQ(node["gpu_jobs"], json(std::vector<int64_t>(8, id)));
}

TEST_F(AdminRoutes, IncidentsOpenAndClosed) {
  EXPECT_EQ(get("/api/v1/incidents").content()["incidents"], json::array());
  EXPECT_EQ(get("/api/v1/incidents?state=closed").content()["incidents"], json::array());
  EXPECT_EQ(get("/api/v1/incidents?state=both").status, 400);
}

TEST_F(AdminRoutes, WhatIsKnownAlreadyIsNotSentAgain) {
  const Answer first = get("/api/v1/quotas");
  const size_t at = first.head.find("ETag: ");
  ASSERT_NE(at, std::string::npos) << first.head;
  const std::string etag = first.head.substr(at + 6, first.head.find("\r\n", at) - at - 6);
  const Answer again = ask("GET", "/api/v1/quotas", "", "If-None-Match: " + etag + "\r\n");
  EXPECT_EQ(again.status, 304);
  EXPECT_EQ(again.body, "");
  const Answer head = ask("HEAD", "/api/v1/quotas");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  EXPECT_NE(head.head.find(fmt::format("Content-Length: {}", first.body.size())),
            std::string::npos);
}

}  // namespace
}  // namespace hai
