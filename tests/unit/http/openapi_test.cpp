// The contract holds: every route there is answers as the document says (schemas/openapi.yaml and
// the messages of proto/hai/v1/api.proto), lets in whom it says, and refuses what it does not say.
// A route without an example here fails.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "common/job_spec.h"
#include "proto/json/call_options.h"
#include "server/api/operations.h"
#include "server/api/words.h"
#include "tests/support/json_schema.h"
#include "tests/unit/http/routes_fixture.h"

namespace hai {
namespace {

using nlohmann::json;

struct Operation {
  std::string method;
  std::string path;
  json details;
  std::string id() const { return details["operationId"]; }
  std::string role() const { return details["x-role"]; }
};

// Who asks, from nobody to everybody's master; "owner" is a plain user whose job it is.
const std::vector<std::string> kWho = {"nobody", "user", "owner", "operator", "admin"};

class Contract : public RoutesFixture {
 protected:
  Contract() {
    document_ = get("/api/v1/openapi.json").content();
    for (const auto& [path, methods] : document_["paths"].items()) {
      for (const auto& [method, details] : methods.items()) {
        std::string upper = method;
        for (char& c : upper) c = static_cast<char>(std::toupper(c));
        operations_.push_back({upper, path, details});
      }
    }
    tokens_["owner"] = token_of("ann", "user");
    tokens_["user"] = token_of("bob", "user");
    tokens_["operator"] = token_of("olga", "operator");
    tokens_["admin"] = LiveServer::kAdminToken;
  }

  const json& resolve(const json& value) const {
    if (!value.contains("$ref")) return value;
    return document_.at(json::json_pointer(value["$ref"].get<std::string>().substr(1)));
  }

  // A fresh job of ann: the first one runs, since there is one node.
  int64_t job_of_ann() {
    const Answer answer =
        ask("POST", "/api/v1/jobs", yaml(fmt::format("job-{}", ++jobs_)), "", tokens_["owner"]);
    EXPECT_EQ(answer.status, 201) << answer.body;
    const int64_t id = answer.content().value("id", 0);
    if (jobs_ == 1) {  // then nothing happens by itself any more
      EXPECT_TRUE(server_.eventually([id](Controller& controller) {
        return controller.state().find(JobId{id})->state == JobState::running;
      }));
    }
    return id;
  }

  static bool takes_only_a_reason(const Operation& operation) {
    const json::json_pointer at("/requestBody/content/application~1json/schema/properties");
    return operation.details.contains(at) && operation.details[at].size() == 1 &&
           operation.details[at].contains("reason");
  }

  // What makes a request of the operation work, as far as the state allows it.
  struct Example {
    std::string path;
    std::string body;
  };
  // A user, a knob or a node that there is.
  static std::string name_for(const std::string& path) {
    if (path.find("users") != std::string::npos) return "cleo";
    return path.find("knobs") != std::string::npos ? "plan_gap" : "n1";
  }
  Example example(const Operation& operation, int64_t job) {
    static const std::map<std::string, std::string> kBodies = {
        {"submit_job", ""},  // made below: names must differ
        {"dry_run_job", ""},
        {"validate_job", ""},
        {"act_on_jobs", R"({"verb": "hold", "jobs": ["{id}"], "reason": "r"})"},
        {"act_on_nodes", R"({"verb": "undrain", "nodes": ["n1"]})"},
        {"suspend_job", ""},
        {"resume_job", ""},
        {"release_job", "{}"},
        {"set_priority", R"({"priority": "low"})"},
        {"move_job", R"({"first": true})"},
        {"edit_job", R"({"timeout": "2h", "tags": ["t"]})"},
        {"rerun_job", "{}"},
        {"what_if", R"({"drain": ["n1"]})"},
        {"drain_node", R"({"reason": "r"})"},
        {"undrain_node", ""},
        {"set_node", R"({"leaf": "l"})"},
        {"close_incident", R"({"reason": "r"})"},
        {"set_quota", R"({"nodes": 3})"},
        {"remove_quota", ""},
        {"set_user", R"({"role": "user"})"},
        {"remove_user", ""},
        {"set_knob", R"({"value": "1s"})"},
        {"unset_knob", ""},
        {"create_token", R"({"label": "l"})"},
        {"create_join_token", R"({"nodes": "n[7-9]"})"},
        {"revoke_join_token", ""},
        {"join_node", R"({"name": "n7", "csr": "none"})"},
        {"revoke_node_identity", ""},
        {"sign_in", R"({"token": "wrong"})"},
        {"begin_sign_in", ""},
        {"sign_out", ""},
        {"set_secret", R"({"value": "v"})"},
        {"delete_secret", ""},
        {"revoke_token", ""}};
    Example made{.path = operation.path};
    if (operation.method != "GET") {
      const auto body = kBodies.find(operation.id());
      const bool is_plain = takes_only_a_reason(operation);
      EXPECT_TRUE(is_plain || body != kBodies.end()) << operation.id() << " has no example here";
      made.body = body != kBodies.end() ? body->second : R"({"reason": "r"})";
    }
    if (std::set<std::string>{"submit_job", "dry_run_job", "validate_job"}.contains(
            operation.id())) {
      made.body = yaml(fmt::format("job-{}", ++jobs_));
    }
    if (operation.id() == "events") made.path += "?format=list";
    if (operation.id() == "search_log") made.path += "?text=x";
    const std::map<std::string, std::string> values = {
        {"{id}", operation.id() == "revoke_token" ? "0123456789ab" : std::to_string(job)},
        {"{name}", name_for(operation.path)},
        {"{owner}", "ann"},
        {"{group}", "training"},
        {"{priority}", "high"}};
    for (const auto& [place, value] : values) {
      for (std::string* text : {&made.path, &made.body}) {
        const size_t at = text->find(place);
        if (at != std::string::npos) text->replace(at, place.size(), value);
      }
    }
    return made;
  }

  Answer ask_as(const std::string& who, const Operation& operation, const Example& example) {
    return ask(operation.method, example.path, example.body, "", tokens_[who]);
  }

  // "" if the answer is one the operation declares.
  std::string answer_error(const Operation& operation, const Answer& answer) {
    const json& responses = operation.details["responses"];
    const std::string status = std::to_string(answer.status);
    const bool is_named = responses.contains(status);
    if (!is_named && answer.status < 400) return "status " + status + " is not declared";
    if (!is_named && !responses.contains("default")) return "no error is declared: " + status;
    const json& response = resolve(responses[is_named ? status : "default"]);
    if (!response.contains("content")) return answer.body.empty() ? "" : "has a body";
    for (const auto& [type, content] : response["content"].items()) {
      if (answer.head.find("Content-Type: " + type) == std::string::npos) continue;
      if (type.find("json") == std::string::npos) return "";
      return schema_error(document_, content["schema"], answer.content());
    }
    return "its type is not declared: " + answer.head;
  }

  // The errors an operation may give to somebody who may call it, with these examples.
  static bool may_refuse(const Operation& operation, int status) {
    static const std::map<std::string, int> kWithoutWhatItNeeds = {{"read_log", 503},
                                                                   {"list_audit", 503},
                                                                   {"sign_in", 401},
                                                                   {"join_node", 401},
                                                                   {"history", 503}};
    const auto own = kWithoutWhatItNeeds.find(operation.id());
    return status == 404 || status == 409 ||
           (own != kWithoutWhatItNeeds.end() && own->second == status);
  }

  int64_t last_seq() {
    int64_t seq = 0;
    server_.on_loop([&] { seq = server_.controller().state().last_seq(); });
    return seq;
  }

  json document_;
  std::vector<Operation> operations_;
  std::map<std::string, std::string> tokens_ = {{"nobody", ""}};
  int jobs_ = 0;
};

// The name of a value, as the compiler has it: "(hai::JobState)7" if no enumerator is that.
template <auto Value>
constexpr bool is_enumerator() {
  return std::string_view(__PRETTY_FUNCTION__).find("Value = (") == std::string_view::npos;
}
template <auto Last>
constexpr bool is_last() {
  using Enum = decltype(Last);
  return is_enumerator<Last>() && !is_enumerator<static_cast<Enum>(static_cast<int>(Last) + 1)>();
}

TEST_F(Contract, HasAllWordsOfTheModel) {
  const json& schemas = document_["components"]["schemas"];
  static_assert(is_last<kJobStates.last>() && is_last<kAttemptStates.last>());
  static_assert(is_last<kLivenesses.last>() && is_last<kSchedulings.last>());
  static_assert(is_last<kRoles.last>() && is_last<kVerdicts.last>() && is_last<kEffects.last>());
  static_assert(is_last<kPendingCodes.last>() && is_last<kRepairSteps.last>());
  static_assert(!is_last<RepairStep::bisecting>());
  EXPECT_EQ(schemas["JobState"]["enum"], json(kJobStates.all()));
  EXPECT_EQ(schemas["RepairStep"]["enum"],
            json({"emptying", "validating", "repairing", "bisecting", "service"}));
  EXPECT_EQ(schemas["Priority"]["enum"].size(), std::size(kPriorities) + 1);
}

// What only `hai` asks is named here; everything else has its route, its meaning and who may.
TEST_F(Contract, EveryCallHasItsRoute) {
  const auto* api = v1::GetJobRequest::descriptor()->file()->FindServiceByName("Api");
  std::vector<std::string> without;
  for (int i = 0; i < api->method_count(); ++i) {
    const auto& call = *api->method(i);
    if (call.options().ExtensionSize(v1::route) == 0) without.push_back(call.name());
    for (const v1::Route& route : call.options().GetRepeatedExtension(v1::route)) {
      const RoutePattern pattern = pattern_of(route);
      std::string method = pattern.method;
      for (char& c : method) c = static_cast<char>(std::tolower(c));
      const json& operation = document_["paths"][pattern.path][method];
      EXPECT_NE(operation.value("summary", ""), "") << call.name();
      EXPECT_EQ(operation.value("x-role", ""), route.role()) << call.name();
    }
  }
  EXPECT_EQ(without, (std::vector<std::string>{"SubmitJobs", "WatchJob"}));
}

// Those of the service that are answered once are the operations, for gRPC and REST alike.
TEST_F(Contract, EveryCallIsAnOperation) {
  std::set<std::string> operations;
#define HAI_NAME(name, Request, Reply) operations.insert(#name);
  HAI_OPERATIONS(HAI_NAME)
#undef HAI_NAME
  std::set<std::string> calls;
  const auto* api = v1::GetJobRequest::descriptor()->file()->FindServiceByName("Api");
  for (int i = 0; i < api->method_count(); ++i) {
    if (!api->method(i)->server_streaming()) calls.insert(api->method(i)->name());
  }
  EXPECT_EQ(operations, calls);
}

TEST_F(Contract, SubmitsAreCountedAsSuch) {
  EXPECT_EQ(submit_routes(),
            (std::set<std::string>{"POST /api/v1/jobs", "POST /api/v1/jobs/{id}/rerun"}));
}

TEST_F(Contract, IsLarge) { EXPECT_GE(operations_.size(), 45u); }

// What people and the dashboard's types read is what is served: HAI_WRITE=1 http_test
// --gtest_filter=Contract.IsKept writes it anew.
TEST_F(Contract, IsKept) {
  const std::string served =
      nlohmann::ordered_json::parse(get("/api/v1/openapi.json").body).dump(1) + "\n";
  if (std::getenv("HAI_WRITE") != nullptr) std::ofstream(HAI_OPENAPI_JSON) << served;
  std::stringstream kept;
  kept << std::ifstream(HAI_OPENAPI_JSON).rdbuf();
  EXPECT_TRUE(kept.str() == served) << "schemas/openapi.json is of other messages or routes";
}

TEST_F(Contract, EveryRouteAnswersAsItSays) {
  for (const Operation& operation : operations_) {
    const Example made = example(operation, job_of_ann());
    const Answer answer = ask_as("admin", operation, made);
    EXPECT_NE(answer.status, 405) << operation.path;
    EXPECT_TRUE(answer.status < 300 || may_refuse(operation, answer.status))
        << operation.id() << " " << answer.status << " " << answer.body;
    EXPECT_EQ(answer_error(operation, answer), "") << operation.id() << " " << answer.body;
    EXPECT_EQ(answer.body.find("nothing is served"), std::string::npos) << operation.id();
  }
}

TEST_F(Contract, ListsWithSomethingInThemFitToo) {
  const int64_t running = submit("running");
  ask("POST", "/api/v1/jobs", yaml("waiting") + "options: {tags: [a]}\n", "", tokens_["owner"]);
  ask("PUT", "/api/v1/quotas/ann/training/high", R"({"nodes": null})");
  server_.finish_job(running, 3);
  EXPECT_TRUE(server_.eventually([running](Controller& controller) {
    return controller.state().find(JobId{running})->is_terminal();
  }));
  for (const Operation& operation : operations_) {
    if (operation.method != "GET") continue;
    Example made = example(operation, running);
    if (operation.id() == "list_jobs") made.path += "?finished=true";
    const Answer answer = ask_as("admin", operation, made);
    EXPECT_EQ(answer_error(operation, answer), "") << operation.id() << " " << answer.body;
  }
}

TEST_F(Contract, EveryRouteLetsInWhomItSays) {
  static const std::map<std::string, int> kFrom = {
      {"anyone", 0}, {"user", 1}, {"owner", 2}, {"operator", 3}, {"admin", 4}};
  for (const Operation& operation : operations_) {
    const auto from = kFrom.find(operation.role());
    ASSERT_NE(from, kFrom.end()) << operation.id() << " has no role";
    for (size_t who = 0; who < kWho.size(); ++who) {
      const Example made = example(operation, job_of_ann());
      int64_t before = last_seq();
      Answer answer = ask_as(kWho[who], operation, made);
      int64_t after = last_seq();
      // What an earlier caller began may go on meanwhile, but not for ever.
      for (int i = 0; who == 0 && after != before && i < 100; ++i) {
        before = after;
        answer = ask_as(kWho[who], operation, made);
        after = last_seq();
      }
      const std::string what =
          fmt::format("{} asks {}: {} {}", kWho[who], operation.id(), answer.status, answer.body);
      // Those that are for anyone judge what they are shown, and here it is nothing.
      if (operation.role() == "anyone" && answer.status == 401) {
        EXPECT_EQ(answer.body.find("no token"), std::string::npos) << what;
      } else if (who >= static_cast<size_t>(from->second)) {
        EXPECT_NE(answer.status, 401) << what;
        EXPECT_NE(answer.status, 403) << what;
        if (operation.id() != "openapi") {  // which names the word
          EXPECT_EQ(answer.body.find("permission_denied"), std::string::npos) << what;
        }
      } else if (who == 0) {
        EXPECT_EQ(answer.status, 401) << what;
        EXPECT_EQ(after, before) << what;
      } else {
        // Of many at once each is refused by itself.
        const bool is_refused =
            answer.status == 403 ||
            (answer.status == 200 && answer.body.find("permission_denied") != std::string::npos);
        EXPECT_TRUE(is_refused) << what;
      }
    }
  }
}

TEST_F(Contract, WhatItDoesNotSayIsRefused) {
  const int64_t job = job_of_ann();
  for (const Operation& operation : operations_) {
    if (operation.details.contains("x-other-parameters")) continue;
    std::vector<std::string> queries = {"nonsense=1", "%00=1"};
    for (const json& each : operation.details.value("parameters", json::array())) {
      const json& parameter = resolve(each);
      if (parameter["in"] != "query") continue;
      const json& schema = resolve(parameter["schema"]);
      const std::string name = parameter["name"];
      if (schema["type"] == "integer") {
        queries.push_back(name + "=x");
        queries.push_back(name + "=1.5");
        queries.push_back(name + "=99999999999999999999");
        if (schema.contains("minimum")) {
          queries.push_back(fmt::format("{}={}", name, schema["minimum"].get<int64_t>() - 1));
        }
        if (schema.contains("maximum")) {
          queries.push_back(fmt::format("{}={}", name, schema["maximum"].get<int64_t>() + 1));
        }
      }
      if (schema["type"] == "boolean") queries.push_back(name + "=maybe");
      if (schema.contains("enum")) queries.push_back(name + "=nonsense");
      if (schema.contains("maxLength")) queries.push_back(name + "=" + std::string(300, 'x'));
    }
    Example made = example(operation, job);
    made.path = made.path.substr(0, made.path.find('?'));
    const int64_t before = last_seq();
    for (const std::string& query : queries) {
      const bool is_anyones = operation.path.find("/api/") == std::string::npos;
      const Answer answer = ask(operation.method, made.path + "?" + query, made.body);
      EXPECT_EQ(answer.status, 400) << operation.id() << "?" << query << " " << answer.body;
      if (!is_anyones) {
        EXPECT_EQ(answer_error(operation, answer), "") << operation.id() << "?" << query;
      }
    }
    EXPECT_EQ(last_seq(), before) << operation.id();
  }
}

TEST_F(Contract, BodiesThatAreNoneAreRefused) {
  const int64_t job = job_of_ann();
  const std::string deep(100'000, '[');
  for (const Operation& operation : operations_) {
    if (!operation.details.contains("requestBody")) continue;
    const json& body = resolve(operation.details["requestBody"]);
    std::vector<std::string> bodies = {"[]",
                                       "7",
                                       "\"x\"",
                                       "{",
                                       "{\"nonsense\": 1}",
                                       "{\"reason\": 7}",
                                       "{\"verb\": [], \"jobs\": {}, \"nodes\": 1}",
                                       deep,
                                       "{\"reason\":" + deep,
                                       std::string(1'000, '\0'),
                                       "\xff\xfe\x00",
                                       std::string(100'000, 'x')};
    const bool may_be_empty = operation.id() == "set_user";  // what is left out stays
    if (body.value("required", false) && !may_be_empty)
      bodies.insert(bodies.end(), {"", "{}", "null"});
    const int64_t before = last_seq();
    for (const std::string& text : bodies) {
      const Answer answer = ask(operation.method, example(operation, job).path, text);
      EXPECT_EQ(answer.status, 400)
          << operation.id() << " " << text.substr(0, 60) << " " << answer.body;
      EXPECT_EQ(answer_error(operation, answer), "") << operation.id() << " " << text.substr(0, 60);
      EXPECT_LT(answer.body.size(), 20'000u) << "an error is for reading";
    }
    EXPECT_EQ(ask(operation.method, example(operation, job).path, std::string(3 << 20, 'x')).status,
              413);
    EXPECT_EQ(last_seq(), before) << operation.id();
  }
}

TEST_F(Contract, PathsThatNameNothing) {
  for (const Operation& operation : operations_) {
    if (operation.path.find('{') == std::string::npos) continue;
    const Example made = example(operation, 999'999);
    std::string path = operation.path;
    for (size_t open = path.find('{'); open != std::string::npos; open = path.find('{')) {
      path.replace(open, path.find('}') - open + 1, "no%20thing%1b%5b2J" + std::string(200, 'n'));
    }
    const Answer answer = ask(operation.method, path, made.body);
    EXPECT_TRUE(answer.status == 400 || answer.status == 404)
        << operation.id() << " " << answer.status << " " << answer.body;
  }
}

}  // namespace
}  // namespace hai
