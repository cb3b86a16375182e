// REST as a client sees it, over loopback, with a real controller behind it.

#include <gtest/gtest.h>

#include <future>

#include <nlohmann/json.hpp>

#include "tests/unit/http/routes_fixture.h"

namespace hai {
namespace {

using nlohmann::json;

class Routes : public RoutesFixture {};

TEST_F(Routes, HealthNeedsNoToken) {
  for (const char* path : {"/livez", "/readyz", "/version", "/metrics"}) {
    EXPECT_EQ(ask("GET", path, "", "", "").status, 200) << path;
  }
  EXPECT_EQ(get("/readyz").body, "leading\n");
  const std::string metrics = get("/metrics").body;
  EXPECT_NE(metrics.find("hai_gpus{use=\"free\"} 8"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("hai_leader 1"), std::string::npos);
}

TEST_F(Routes, EverythingElseDoes) {
  for (const char* path : {"/api/v1/jobs", "/api/v1/nodes", "/api/v1/cluster", "/api/v1/events",
                           "/api/v1/users", "/api/v1/quotas", "/api/v1/jobs/1/logs"}) {
    const Answer answer = ask("GET", path, "", "", "");
    EXPECT_EQ(answer.status, 401) << path;
    EXPECT_NE(answer.head.find("application/problem+json"), std::string::npos) << path;
    EXPECT_EQ(answer.content().value("title", ""), "unauthenticated") << path;
  }
  EXPECT_EQ(ask("POST", "/api/v1/jobs", yaml("a"), "", "").status, 401);
}

TEST_F(Routes, AJobHasTheFieldsOfTheContract) {
  const int64_t id = submit("a");
  const json job = get(fmt::format("/api/v1/jobs/{}", id)).content();
  for (const char* key :
       {"id", "name", "user", "group", "priority", "state", "held", "node_count", "gpus_per_node",
        "submitted_at", "started_at", "ended_at", "attempt", "pending_reason", "exit_code", "nodes",
        "suspend_count", "requeue_count", "lost_gpu_seconds"}) {
    EXPECT_TRUE(job.contains(key)) << key;
  }
  EXPECT_EQ(job["id"], id);
  EXPECT_EQ(job["state"], "running");
  EXPECT_EQ(job["nodes"], json({"n1"}));
  EXPECT_EQ(get("/api/v1/jobs/a").content()["id"], id);
  const json page = get("/api/v1/jobs?state=running&user=root").content();
  ASSERT_EQ(page["jobs"].size(), 1u);
  EXPECT_TRUE(page["next_cursor"].is_null());
  EXPECT_EQ(get("/api/v1/jobs?state=busy").status, 400);
  EXPECT_EQ(get("/api/v1/jobs?limit=0").status, 400);
  EXPECT_EQ(get("/api/v1/jobs/99").status, 404);
}

TEST_F(Routes, JsonIsTakenToo) {
  const json body = {{"version", 2},
                     {"name", "a"},
                     {"spec", {{"workspace", "/data"}, {"entrypoint", "train.py"}}}};
  const Answer answer = ask("POST", "/api/v1/jobs", body.dump());
  EXPECT_EQ(answer.status, 201) << answer.body;
  EXPECT_NE(answer.head.find("Location: /api/v1/jobs/"), std::string::npos);
}

TEST_F(Routes, AnIdempotencyKeyGivesTheFirstJobAgain) {
  const std::string header = "Idempotency-Key: once\r\n";
  const Answer first = ask("POST", "/api/v1/jobs", yaml("a"), header);
  const Answer second = ask("POST", "/api/v1/jobs", yaml("a"), header);
  EXPECT_EQ(first.content()["id"], second.content()["id"]);
  EXPECT_EQ(ask("POST", "/api/v1/jobs", yaml("a")).status, 409);
}

TEST_F(Routes, AllErrorsOfASpecAtOnce) {
  const Answer answer = ask("POST", "/api/v1/jobs", "version: 2\nnam: a\n");
  EXPECT_EQ(answer.status, 400);
  const std::string detail = answer.content().value("detail", "");
  EXPECT_NE(detail.find("line 2: nam: unknown key"), std::string::npos) << detail;
  EXPECT_NE(detail.find("spec.entrypoint"), std::string::npos) << detail;
}

TEST_F(Routes, JobsAreControlled) {
  const int64_t id = submit("a");
  const std::string path = fmt::format("/api/v1/jobs/{}", id);
  EXPECT_EQ(ask("POST", path + "/stop", "[]").status, 400);
  EXPECT_EQ(ask("POST", path + "/stop", R"({"why": "x"})").status, 400);
  EXPECT_EQ(ask("DELETE", path).status, 405);
  const Answer stopped = ask("POST", path + "/stop", R"({"reason": "done"})");
  EXPECT_EQ(stopped.status, 200) << stopped.body;
  EXPECT_TRUE(server_.eventually([id](Controller& controller) {
    return controller.state().find(JobId{id})->state == JobState::stopped;
  }));
  const json attempts = get(path + "/attempts").content();
  ASSERT_EQ(attempts["attempts"].size(), 1u);
  EXPECT_EQ(attempts["attempts"][0]["ranks"][0]["node"], "n1");
  const json events = get(path + "/events?after=0").content();
  EXPECT_EQ(events["events"][0]["kind"], "job_submitted");
  EXPECT_EQ(get(path + "/why").content()["pending_reason"], json());
}

TEST_F(Routes, WhyWhatIfAndMove) {
  const int64_t first = submit("a");
  const int64_t waiting = ask("POST", "/api/v1/jobs", yaml("b")).content().value("id", 0);
  const json why = get(fmt::format("/api/v1/jobs/{}/why", waiting)).content();
  EXPECT_TRUE(why["pending_reason"].is_object());
  ASSERT_EQ(why["facts"].size(), 1u);
  EXPECT_EQ(why["facts"][0]["code"], "job");
  EXPECT_EQ(why["facts"][0]["holders"], json({fmt::format("job/{}", first)}));
  EXPECT_TRUE(why["start_p50"].is_string());
  EXPECT_EQ(get(fmt::format("/api/v1/jobs/{}/why?estimate=maybe", waiting)).status, 400);

  const std::string move = fmt::format("/api/v1/jobs/{}/move", waiting);
  EXPECT_EQ(ask("POST", move, R"({"first": true})").content()["id"], waiting);
  EXPECT_EQ(ask("POST", move, R"({"before": "a"})").status, 409);
  EXPECT_EQ(ask("POST", move, R"({"first": true, "last": true})").status, 400);
  EXPECT_EQ(ask("POST", move, "").status, 400);

  const Answer drain = ask("POST", "/api/v1/whatif", R"({"drain": ["n1"]})");
  EXPECT_EQ(drain.status, 200) << drain.body;
  ASSERT_EQ(drain.content()["differences"].size(), 1u) << drain.body;
  EXPECT_EQ(drain.content()["differences"][0]["effect"], "suspended");
  const Answer priority =
      ask("POST", "/api/v1/whatif", R"({"priority": {"job": "b", "priority": "extreme_high"}})");
  EXPECT_EQ(priority.content()["differences"].size(), 2u) << priority.body;
  const auto what_if = [this](const std::string& body) {
    return ask("POST", "/api/v1/whatif", body).content();
  };
  EXPECT_EQ(what_if(R"({"knob": {"name": "min_quantum", "value": "10m"}})")["change"],
            "knob min_quantum is 10m");
  EXPECT_EQ(what_if(R"({"knob": {"name": "min_quantum", "value": "200h"}})")["status"], 400);
  EXPECT_EQ(what_if(R"({"user": {"name": "new", "groups": ["lab"]}})")["change"],
            "user new is active, in lab");
  EXPECT_EQ(get("/api/v1/users").body.find("\"new\""), std::string::npos);
  EXPECT_EQ(ask("POST", "/api/v1/whatif", R"({"drain": ["n9"]})").status, 404);
  EXPECT_EQ(ask("POST", "/api/v1/whatif", R"({"quota": {"owner": "x"}})").status, 400);
  const auto detail = [this](const std::string& body) {
    return ask("POST", "/api/v1/whatif", body).content()["detail"].get<std::string>();
  };
  EXPECT_EQ(detail(R"({"drain": 3})"), "drain: must be a list of names");
  EXPECT_EQ(detail(R"({"quota": 3})"), "quota: must be an object");
  EXPECT_TRUE(detail(R"({"priority": {"job": "b"}})").starts_with("priority: "));
  EXPECT_EQ(get(fmt::format("/api/v1/jobs/{}", waiting)).content()["priority"],
            get(fmt::format("/api/v1/jobs/{}", first)).content()["priority"]);
}

TEST_F(Routes, TheQueueSaysWhoGoesFirstAndWhoIsThere) {
  const int64_t running = submit("a");
  const int64_t first = ask("POST", "/api/v1/jobs", yaml("b")).content().value("id", 0);
  const int64_t second = ask("POST", "/api/v1/jobs", yaml("c")).content().value("id", 0);
  json queue = get("/api/v1/queue").content();
  // The first look ahead may be on its way still, and so may be the pass over the last submit.
  const auto is_there = [&queue] {
    return queue["estimated_at"].is_string() &&
           queue["entries"][1]["pending_reason"]["code"] != "not_considered";
  };
  for (int ask = 0; ask < 100'000 && !is_there(); ++ask) queue = get("/api/v1/queue").content();
  EXPECT_TRUE(queue["estimated_at"].is_string());
  ASSERT_EQ(queue["entries"].size(), 2u) << queue;
  EXPECT_EQ(queue["entries"][0]["id"], first);
  EXPECT_EQ(queue["entries"][0]["position"], 1);
  EXPECT_EQ(queue["entries"][1]["id"], second);
  EXPECT_EQ(queue["entries"][1]["ahead"]["by_age"], 1);
  EXPECT_EQ(queue["entries"][1]["pending_reason"]["code"], "resources");
  ASSERT_EQ(queue["blocks"].size(), 1u);
  EXPECT_EQ(queue["blocks"][0]["id"], running);
  EXPECT_EQ(queue["blocks"][0]["nodes"], 1.0);
  EXPECT_EQ(queue["groups"][0]["nodes"], 1);

  const json page = get("/api/v1/queue?limit=1&cursor=1").content();
  ASSERT_EQ(page["entries"].size(), 1u);
  EXPECT_EQ(page["entries"][0]["id"], second);
  EXPECT_EQ(page["next_cursor"], json());
  EXPECT_EQ(get("/api/v1/queue?user=nobody").content()["total"], 0);
  EXPECT_EQ(get("/api/v1/queue?team=nobody").content()["total"], 0);
  EXPECT_EQ(get("/api/v1/queue?priority=nonsense").status, 400);
}

TEST_F(Routes, HistoryAndUsageAreRefusedOrEmptyWhereNothingIsKnown) {
  const int64_t id = submit("a");
  EXPECT_EQ(get("/api/v1/history").status, 503);  // this server has no database
  EXPECT_EQ(get("/api/v1/history?step=5m").status, 400);
  EXPECT_EQ(get("/api/v1/history?since=2026-01-01T00:00:00Z&until=2025-01-01T00:00:00Z").status,
            400);
  EXPECT_EQ(get("/api/v1/history?since=1969-12-31T00:00:00Z").status, 400);
  const json usage = get(fmt::format("/api/v1/jobs/{}/usage", id)).content();
  EXPECT_EQ(usage["attempt"], 0);
  EXPECT_EQ(get("/api/v1/jobs/99/usage").status, 404);
}

TEST_F(Routes, LogsAreText) {
  const int64_t id = submit("a");
  server_.write_log("line one\nline two\n");
  const std::string path = fmt::format("/api/v1/jobs/{}/logs", id);
  EXPECT_EQ(get(path).body, "line one\nline two\n");
  EXPECT_EQ(get(path + "?offset=5").body, "one\nline two\n");
  EXPECT_EQ(get(path + "?rank=4").status, 404);
  EXPECT_EQ(get(path + "?follow=maybe").status, 400);
  server_.finish_job(id, 0);
  EXPECT_EQ(get(path + "?follow=true").body, "line one\nline two\n");
}

// Any number may be asked for: one more than the last of all was the first, and ended the server.
TEST_F(Routes, AfterTheLastOfAllEventsThereAreNone) {
  const int64_t id = submit("a");
  for (const std::string& path : {fmt::format("/api/v1/jobs/{}/events?after=", id),
                                  std::string("/api/v1/events?format=list&after=")}) {
    const Answer answer = get(path + "9223372036854775807");
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_TRUE(answer.content()["events"].empty()) << answer.body;
  }
}

TEST_F(Routes, EventsAreStreamed) {
  submit("a");
  const std::string stream = http_exchange(
      server_.http_port(),
      fmt::format("GET /api/v1/events?after=0 HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {}\r\n"
                  "\r\n",
                  LiveServer::kAdminToken),
      "event: attempt_running");
  EXPECT_NE(stream.find("Content-Type: text/event-stream"), std::string::npos);
  EXPECT_NE(stream.find("id: 1\nevent: epoch_started\ndata: {"), std::string::npos) << stream;
  EXPECT_NE(stream.find("event: job_submitted"), std::string::npos);
}

// Reconnecting after any event gives exactly what came after it, once and in order.
TEST_F(Routes, AStreamResumesWithoutAHole) {
  submit("a");
  const auto stream = [this](const std::string& header, const std::string& until) {
    return http_exchange(
        server_.http_port(),
        fmt::format(
            "GET /api/v1/events?after=0 HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer {}\r\n{}\r\n",
            LiveServer::kAdminToken, header),
        until);
  };
  const auto seqs = [](const std::string& text) {
    std::vector<int64_t> found;
    for (size_t at = text.find("\nid: "); at != std::string::npos;
         at = text.find("\nid: ", at + 1)) {
      found.push_back(std::stoll(text.substr(at + 5)));
    }
    return found;
  };
  const std::vector<int64_t> first = seqs(stream("", "event: attempt_running"));
  ASSERT_GT(first.size(), 3u);
  const int64_t last = first[first.size() / 2];
  // The job held while the second stream is open comes through the hub, the rest from the ring.
  auto later = std::async(std::launch::async, [&] {
    return seqs(stream(fmt::format("Last-Event-ID: {}\r\n", last), "event: job_released"));
  });
  EXPECT_EQ(ask("POST", "/api/v1/jobs/a/hold").status, 200);
  EXPECT_EQ(ask("POST", "/api/v1/jobs/a/release").status, 200);
  const std::vector<int64_t> second = later.get();
  ASSERT_FALSE(second.empty());
  for (size_t i = 0; i < second.size(); ++i)
    EXPECT_EQ(second[i], last + 1 + static_cast<int64_t>(i));
}

TEST_F(Routes, AStreamIsRefusedToWhoMayNotWatch) {
  EXPECT_EQ(ask("GET", "/api/v1/events?after=0", "", "", "wrong").status, 401);
  EXPECT_EQ(ask("GET", "/api/v1/events?job=99").status, 404);
  EXPECT_EQ(ask("GET", "/api/v1/events?node=n9").status, 404);
}

TEST_F(Routes, NodesAreShownAndDrained) {
  const json node = get("/api/v1/nodes/n1").content();
  for (const char* key : {"name", "group", "zone", "leaf", "liveness", "scheduling", "reason",
                          "gpus", "gpus_free", "jobs", "health", "checks"}) {
    EXPECT_TRUE(node.contains(key)) << key;
  }
  EXPECT_EQ(ask("POST", "/api/v1/nodes/n1/drain", R"({"reason": "disk"})").status, 200);
  EXPECT_EQ(get("/api/v1/nodes?scheduling=drained").content()["nodes"].size(), 1u);
  EXPECT_EQ(get("/api/v1/cluster").content()["gpus"]["draining"], 8);
  EXPECT_EQ(ask("POST", "/api/v1/nodes/n1/undrain").content()["scheduling"], "open");
  EXPECT_EQ(get("/api/v1/nodes/n9").status, 404);
}

TEST_F(Routes, ADrainTakesADeadlineAndNothingElseDoes) {
  EXPECT_TRUE(get("/api/v1/nodes/n1").content()["drain_at"].is_null());
  const std::string far = R"({"reason": "disk", "deadline": "2026-13-20T08:00:00Z"})";
  const std::string over = R"({"reason": "disk", "deadline": "1999-01-01T00:00:00Z"})";
  const std::string good = R"({"deadline": "2026-11-20T08:00:00Z"})";
  for (const std::string& body : {far, over, std::string(R"({"deadline": 5})")}) {
    const Answer answer = ask("POST", "/api/v1/nodes/n1/drain", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_NE(answer.body.find("deadline"), std::string::npos) << body << answer.body;
  }
  EXPECT_EQ(ask("POST", "/api/v1/nodes/n1/cordon", good).status, 400);
  const std::string bulk =
      R"({"verb": "VERB", "nodes": ["n1"], "deadline": "1999-01-01T00:00:00Z"})";
  const auto with_verb = [&bulk](const std::string& verb) {
    return std::string(bulk).replace(bulk.find("VERB"), 4, verb);
  };
  EXPECT_EQ(ask("POST", "/api/v1/nodes/actions", with_verb("cordon")).status, 400);
  const json results = ask("POST", "/api/v1/nodes/actions", with_verb("drain")).content();
  EXPECT_EQ(results["results"][0]["code"], "invalid_argument");
  EXPECT_EQ(get("/api/v1/nodes/n1").content()["scheduling"], "open");
}

}  // namespace
}  // namespace hai
