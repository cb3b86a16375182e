// Messages as JSON, and requests read from it, by their descriptors.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/status.h"
#include "hai/v1/api.pb.h"
#include "proto/json/json_reader.h"
#include "proto/json/json_writer.h"

namespace hai {
namespace {

using Json = nlohmann::ordered_json;

// Both ways to write must say the same.
Json written(const google::protobuf::Message& message) {
  const Json value = to_json(message);
  EXPECT_EQ(Json::parse(to_json_text(message)).dump(), value.dump());
  return value;
}

TEST(JsonWriter, WhatIsAbsentIsNullAndTimesAreRfc3339) {
  v1::Job job;
  job.set_id(int64_t{1} << 60);
  job.set_submitted_at_us(1'795'161'600'500'000);
  const Json json = written(job);
  EXPECT_EQ(json["id"], int64_t{1} << 60);
  EXPECT_EQ(json["submitted_at"], "2026-11-20T08:00:00.500Z");
  for (const char* key : {"started_at", "exit_code", "pending_reason", "end_reason", "zone"}) {
    EXPECT_TRUE(json.contains(key) && json[key].is_null()) << key;
  }
  EXPECT_EQ(json["nodes"], Json::array());
  EXPECT_EQ(json["name"], "");
  EXPECT_FALSE(json.contains("spec")) << "hidden";
}

TEST(JsonWriter, WhatIsPresentStandsEvenIfItIsNothing) {
  v1::Job job;
  job.set_exit_code(0);
  job.mutable_pending_reason()->set_code("quota");
  const Json json = written(job);
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(json["pending_reason"], (Json{{"code", "quota"}, {"text", ""}}));
}

TEST(JsonWriter, NeighboursOfOneObjectStandInIt) {
  v1::Cluster cluster;
  cluster.set_gpus_total(8);
  cluster.set_gpus_broken(1);
  (*cluster.mutable_nodes_by_liveness())["up"] = 2;
  (*cluster.mutable_nodes_by_liveness())["down"] = 1;
  (*cluster.mutable_running_by_user())["ann"].set_jobs(3);
  const Json json = written(cluster);
  EXPECT_EQ(json["gpus"]["total"], 8);
  EXPECT_EQ(json["gpus"]["broken"], 1);
  EXPECT_EQ(json["nodes"]["liveness"].dump(), R"({"down":1,"up":2})") << "sorted";
  EXPECT_EQ(json["running"]["by_user"]["ann"]["jobs"], 3);
  EXPECT_EQ(json["running"]["by_priority"], Json::object());
}

TEST(JsonWriter, NumbersThatMeanNothingAreNull) {
  v1::Node node;
  for (const int64_t job : {7, 0}) node.add_gpu_jobs(job);
  EXPECT_FALSE(written(node).contains("gpu_utilization")) << "no driver to ask";
  for (const int percent : {0, -1}) node.add_gpu_utilization(percent);
  const Json json = written(node);
  EXPECT_EQ(json["gpu_jobs"], (Json{7, nullptr}));
  EXPECT_EQ(json["gpu_utilization"], (Json{0, nullptr}));
  v1::Quota quota;
  quota.set_nodes(-1);
  EXPECT_TRUE(written(quota)["nodes"].is_null());
  quota.set_nodes(0);
  EXPECT_EQ(written(quota)["nodes"], 0);
}

TEST(JsonWriter, WordsOfEnumsAreTheirOwn) {
  v1::ControlJobReply reply;
  reply.add_results()->set_code(v1::CODE_NOT_FOUND);
  EXPECT_EQ(written(reply)["results"][0]["code"], "not_found");
  EXPECT_TRUE(written(reply)["results"][0]["job_id"].is_null());
}

TEST(JsonWriter, AnInlinedMessageStandsInItsPlace) {
  v1::CreateTokenReply reply;
  reply.mutable_token()->set_user("ann");
  reply.set_secret("s");
  const Json json = written(reply);
  EXPECT_EQ(json["user"], "ann");
  EXPECT_EQ(json["secret"], "s");
  EXPECT_FALSE(json.contains("token"));
}

TEST(JsonWriter, ABodyIsAnObject) {
  v1::Event event;
  event.set_at_us(0);
  EXPECT_EQ(written(event)["body"], Json::object());
  event.set_body_json(R"({"job": 3})");
  EXPECT_EQ(written(event)["body"], (Json{{"job", 3}}));
  EXPECT_EQ(written(event)["time"], "1970-01-01T00:00:00.000Z");
}

TEST(JsonWriter, AFilterIsOfItsTypeOnly) {
  v1::ListJobsReply reply;
  reply.add_jobs()->set_id(3);
  reply.set_total(1);
  const std::string text =
      to_json_text(reply, {.type = v1::Job::descriptor(), .names = {"id", "no_such", "nodes"}});
  EXPECT_EQ(text, R"({"jobs":[{"id":3,"nodes":[]}],"next_cursor":null,"total":1})");
}

TEST(JsonWriter, BytesThatAreNoTextDoNotStopIt) {
  v1::Job job;
  job.set_name("a\xff\"\n");
  EXPECT_EQ(Json::parse(to_json_text(job))["name"], "a\xEF\xBF\xBD\"\n");
}

TEST(JsonReader, ReadsWhatTheMessageHas) {
  v1::ControlNodeRequest request;
  ASSERT_EQ(read_json(R"({"verb": "drain", "nodes": ["n1", "n[2-3]"], "reason": "r",
                          "deadline": "2026-11-20T08:00:00.5Z"})",
                      {}, request),
            ok());
  EXPECT_EQ(request.action(), v1::NODE_ACTION_DRAIN);
  EXPECT_EQ(request.nodes_size(), 2);
  EXPECT_EQ(request.deadline_us(), 1'795'161'600'500'000);
}

TEST(JsonReader, AnIdMayBeANumber) {
  v1::ControlJobRequest request;
  ASSERT_EQ(read_json(R"({"verb": "stop", "jobs": [17, "llm"]})", {}, request), ok());
  EXPECT_EQ(request.jobs(0), "17");
  EXPECT_EQ(request.jobs(1), "llm");
}

TEST(JsonReader, NullIsNoLimitAndAListMayBeTold) {
  v1::SetQuotaRequest quota;
  ASSERT_EQ(read_json(R"({"nodes": null})", {"owner", "group", "priority"}, quota), ok());
  EXPECT_EQ(quota.nodes(), -1);
  v1::SetUserRequest user;
  ASSERT_EQ(read_json(R"({"groups": []})", {"name"}, user), ok());
  EXPECT_TRUE(user.set_groups());
  EXPECT_FALSE(user.has_role());
}

TEST(JsonReader, SaysWhatIsWrong) {
  const auto error = [](const std::string& body, google::protobuf::Message&& message,
                        const std::set<std::string>& taken = {}) {
    const Status status = read_json(body, taken, message);
    EXPECT_EQ(status.code(), Code::invalid_argument) << body;
    return status.message();
  };
  using Control = v1::ControlJobRequest;
  EXPECT_EQ(error("[]", Control()), "the body must be a JSON object");
  EXPECT_EQ(error("{", Control()), "the body must be a JSON object");
  EXPECT_EQ(error(std::string(100, '['), Control()), "the body is nested deeper than 64");
  EXPECT_EQ(error(R"({"verb": "stop"})", Control()), "jobs: is missing");
  EXPECT_EQ(error(R"({"verb": 3, "jobs": []})", Control()), "verb: must be a string");
  EXPECT_EQ(error(R"({"verb": "fly", "jobs": []})", Control()),
            "verb: fly is none of stop, suspend, resume, hold, release, requeue");
  EXPECT_EQ(error(R"({"verb": "unspecified", "jobs": []})", Control()),
            "verb: unspecified is none of stop, suspend, resume, hold, release, requeue");
  EXPECT_EQ(error(R"({"jobs": 3})", Control()), "jobs: must be a list");
  EXPECT_EQ(error(R"({"jobs": [null]})", Control()), "jobs: must be a list of names");
  EXPECT_EQ(error(R"({"reason": 3})", Control()), "reason: must be a string");
  EXPECT_EQ(error(R"({"jbos": 3})", Control(), {"jobs", "verb"}),
            "jbos: unknown key; known is: reason");
  EXPECT_EQ(error(R"({"jobs": ["1"]})", Control(), {"jobs", "verb"}),
            "jobs: unknown key; known is: reason");
  EXPECT_EQ(error(R"({"nodes": -3})", v1::SetQuotaRequest(), {"owner"}),
            "nodes: must be a number up to 2147483647, or null for no limit");
  EXPECT_EQ(error(R"({"deadline": "soon"})", v1::ControlNodeRequest()).substr(0, 10), "deadline: ");
  EXPECT_EQ(error(R"({})", v1::MoveJobRequest(), {"id"}), "exactly one of before, first, last");
  EXPECT_EQ(error(R"({"first": false})", v1::MoveJobRequest(), {"id"}), "first: must be true");
  EXPECT_EQ(error(R"({"active": "yes"})", v1::SetUserRequest()), "active: must be true or false");
}

TEST(JsonReader, ParametersAreTexts) {
  v1::ListJobsRequest jobs;
  read_preset("all_users=true", jobs);
  EXPECT_TRUE(jobs.all_users());
  for (const char* state : {"queued", "running"}) {
    ASSERT_EQ(read_parameter("state", state, jobs), ok());
  }
  ASSERT_EQ(read_parameter("limit", "7", jobs), ok());
  ASSERT_EQ(read_parameter("limit", "", jobs), ok());
  ASSERT_EQ(read_parameter("total", "1", jobs), ok());
  ASSERT_EQ(read_parameter("all_users", "false", jobs), ok()) << "hidden: not theirs to say";
  EXPECT_EQ(jobs.states_size(), 2);
  EXPECT_EQ(jobs.page_size(), 7);
  EXPECT_TRUE(jobs.total() && jobs.all_users());
  EXPECT_EQ(read_parameter("limit", "7x", jobs).message(), "limit: 7x is no whole number");
  EXPECT_EQ(read_parameter("limit", "3000000000", jobs).code(), Code::invalid_argument);
  EXPECT_EQ(read_parameter("total", "maybe", jobs).message(),
            "total: must be true or false, is maybe");
}

}  // namespace
}  // namespace hai
