#include "cli/output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "agent/health/health_report.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {
namespace {

// `hai nodes -o json` and `hai-agent --check-health -o json` tell of the same check.
TEST(JsonOut, ACheckIsNamedAsItsAgentNamesIt) {
  const CheckResult result{.name = "gpu_state",
                           .subject = "gpu 3",
                           .verdict = CheckVerdict::fail,
                           .tier = HealthTier::evict,
                           .summary = "NVML: GPU is lost; remedy: reset it",
                           .evidence = "",
                           .gpus = {8},
                           .at = unix_micros(1'795'161'600'500'000)};
  v1::Node node;
  v1::NodeCheck& check = *node.add_checks();
  check.set_name(result.name);
  check.set_subject(result.subject);
  check.set_state(std::string(to_string(result.verdict)));
  check.set_tier(std::string(to_string(result.tier)));
  check.set_text(result.summary);
  check.set_at_us(to_micros(result.at));
  nlohmann::json cluster = to_json(node)["checks"][0];
  nlohmann::json agent = nlohmann::json::parse(format_health_json({result}))[0];
  EXPECT_EQ(cluster.erase("done"), 1u) << "what the server did about it";
  EXPECT_EQ(agent.erase("gpus"), 1u) << "which the agent tells the server";
  EXPECT_EQ(cluster, agent);
}

TEST(JsonOut, WhatHasNotHappenedIsNull) {
  v1::Job job;
  job.set_id(17);
  job.set_submitted_at_us(1'795'161'600'500'000);
  Json json = to_json(job);
  EXPECT_EQ(json["id"], 17);
  EXPECT_EQ(json["submitted_at"], "2026-11-20T08:00:00.500Z");
  for (const char* key : {"started_at", "ended_at", "pending_reason", "exit_code", "checkpoint",
                          "progress_step", "whole_life_state", "end_reason"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  EXPECT_EQ(json["nodes"], Json::array());
  job.set_exit_code(0);
  job.mutable_pending_reason()->set_code("quota");
  job.mutable_pending_reason()->set_text("quota of ann: 4 nodes, 4 used, 1 asked");
  job.add_nodes("node-1");
  json = to_json(job);
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(json["pending_reason"]["code"], "quota");
  EXPECT_EQ(json["nodes"], Json({"node-1"}));
}

TEST(JsonOut, AnEventCarriesItsBodyAsAnObject) {
  v1::Event event;
  event.set_body_json(R"({"job": 3})");
  EXPECT_EQ(to_json(event)["body"], (Json{{"job", 3}}));
  event.set_body_json("not json");
  EXPECT_EQ(to_json(event)["body"], Json::object());
}

TEST(JsonOut, ListsAreAnArrayOrOneLineEach) {
  const std::vector<Json> items = {{{"a", 1}}, {{"a", 2}}};
  EXPECT_EQ(format_json_list(items, OutputFormat::jsonl), "{\"a\":1}\n{\"a\":2}\n");
  EXPECT_EQ(Json::parse(format_json_list(items, OutputFormat::json)), Json(items));
  EXPECT_EQ(format_json_list({}, OutputFormat::json), "[]\n");
  EXPECT_EQ(format_json_list({}, OutputFormat::jsonl), "");
}

TEST(JsonOut, BytesThatAreNoTextDoNotStopTheOutput) {
  EXPECT_EQ(format_json(Json("a\xff"), OutputFormat::jsonl), "\"a\xEF\xBF\xBD\"\n");
}

}  // namespace
}  // namespace hai::cli
