// What somebody learns of another's job where the site says `visibility: own` or `team`: that nodes
// are taken, and nothing else, on any route.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/event_filter.h"
#include "server/http/event_hub.h"
#include "tests/unit/http/routes_fixture.h"

namespace hai {
namespace {

const std::string kHidden = "very-secret-plan";

// bob's job ran until it had to make room for ann's.
class SeenBy : public RoutesFixture {
 protected:
  explicit SeenBy(Visibility visibility)
      : RoutesFixture([visibility](ServerConfig& config, ServingSecrets&) {
          config.visibility = visibility;
        }) {
    ann_ = token_of("ann", "user");
    bob_ = token_of("bob", "user");
    olga_ = token_of("olga", "operator");
    bobs_job_ = submit_as(bob_, yaml("small") + "priority: low\n", JobState::running);
    anns_job_ = submit_as(ann_, yaml(kHidden) + "priority: extreme_high\n", JobState::running);
  }

  int64_t submit_as(const std::string& token, const std::string& text, JobState state) {
    const Answer answer = ask("POST", "/api/v1/jobs", text, "", token);
    EXPECT_EQ(answer.status, 201) << answer.body;
    const int64_t id = answer.content().value("id", 0);
    EXPECT_TRUE(server_.eventually([id, state](Controller& controller) {
      const Job* job = controller.state().find(JobId{id});
      return job != nullptr && job->state == state;
    }));
    return id;
  }

  // Every path of the document that is read, with the numbers of both jobs.
  std::vector<std::string> all_reads() {
    std::vector<std::string> paths = {"/",
                                      "/metrics",
                                      "/api/v1/jobs?finished=true",
                                      "/api/v1/jobs?q=" + kHidden,
                                      "/api/v1/jobs?user=ann",
                                      "/api/v1/jobs?sort=name",
                                      "/api/v1/events?format=list&node=n1",
                                      "/api/v1/jobs/" + kHidden};
    for (const auto& [path, methods] : get("/api/v1/openapi.json").content()["paths"].items()) {
      if (!methods.contains("get")) continue;
      for (const int64_t job : {anns_job_, bobs_job_}) {
        std::string made = path;
        const std::map<std::string, std::string> values = {{"{id}", std::to_string(job)},
                                                           {"{name}", "n1"},
                                                           {"{owner}", "ann"},
                                                           {"{group}", "training"},
                                                           {"{priority}", "high"}};
        for (const auto& [place, value] : values) {
          const size_t at = made.find(place);
          if (at != std::string::npos) made.replace(at, place.size(), value);
        }
        if (made == "/api/v1/events") made += "?format=list";
        paths.push_back(made);
      }
    }
    return paths;
  }
  // On how many of them the name is found.
  int tellers(const std::string& token) {
    int count = 0;
    for (const std::string& path : all_reads()) {
      const Answer answer = ask("GET", path, "", "", token);
      // 503: what a server without a database lacks. 403: for others than users.
      EXPECT_THAT(answer.status, ::testing::AnyOf(200, 204, 403, 404, 503)) << path << answer.body;
      // What was asked for is said back where there is none of it.
      const bool is_echo = answer.status == 404 && path.find(kHidden) != std::string::npos;
      if (!is_echo && answer.body.find(kHidden) != std::string::npos) {
        ++count;
        told_ += path + ": " + answer.body + "\n";
      }
    }
    return count;
  }

  std::string ann_, bob_, olga_, told_;
  int64_t bobs_job_ = 0, anns_job_ = 0;
};

class SeenByOwners : public SeenBy {
 protected:
  SeenByOwners() : SeenBy(Visibility::own) {}
};
class SeenByTeams : public SeenBy {
 protected:
  SeenByTeams() : SeenBy(Visibility::team) {}
};
class SeenByAll : public SeenBy {
 protected:
  SeenByAll() : SeenBy(Visibility::all) {}
};

TEST_F(SeenByOwners, NoRouteTellsOthersOfAJob) {
  EXPECT_EQ(tellers(bob_), 0) << told_;
  EXPECT_GE(tellers(ann_), 3) << "she sees her own";
  EXPECT_GE(tellers(olga_), 3) << "operators see all";
}

TEST_F(SeenByOwners, AJobOfSomebodyElseDoesNotExist) {
  const std::string id = std::to_string(anns_job_);
  const std::string at = "/api/v1/jobs/" + id;
  const auto refused = [&](const char* method, const std::string& path, const std::string& body) {
    const Answer answer = ask(method, path, body, "", bob_);
    EXPECT_EQ(answer.status, 404) << method << " " << path << ": " << answer.body;
    EXPECT_EQ(answer.body.find("ann"), std::string::npos) << answer.body;
  };
  for (const char* part : {"", "/spec", "/attempts", "/checkpoints", "/progress", "/why"}) {
    refused("GET", at + part, "");
  }
  refused("POST", at + "/stop", "{}");
  refused("POST", at + "/hold", R"({"reason": "r"})");
  refused("POST", at + "/priority", R"({"priority": "low"})");
  refused("POST", "/api/v1/whatif", R"({"priority": {"job": ")" + id + R"(", "priority": "low"}})");
  refused("POST", "/api/v1/jobs", yaml("next") + "options: {depends_on: ['" + id + "']}\n");
  refused("POST", "/api/v1/jobs/" + std::to_string(bobs_job_) + "/move",
          R"({"before": ")" + id + R"("})");
}

// Each part that asks whose jobs are seen asks anew.
TEST_F(SeenByAll, AConfigThatIsReadAgainHidesAtOnce) {
  const std::string at = "/api/v1/jobs/" + std::to_string(anns_job_);
  EXPECT_GE(tellers(bob_), 3) << "rows are seen";
  server_.reload([](ServerConfig& config) { config.visibility = Visibility::own; });
  told_.clear();
  EXPECT_EQ(tellers(bob_), 0) << told_;
  EXPECT_GE(tellers(ann_), 3) << "she sees her own";
  EXPECT_EQ(ask("GET", at, "", "", bob_).status, 404);
  EXPECT_EQ(ask("POST", at + "/stop", "{}", "", bob_).status, 404);
  server_.reload([](ServerConfig& config) { config.visibility = Visibility::all; });
  EXPECT_EQ(ask("GET", at, "", "", bob_).status, 200);
  EXPECT_EQ(ask("POST", at + "/stop", "{}", "", bob_).status, 403);
}

TEST_F(SeenByOwners, WhatMayBeKnownIsThere) {
  const json cluster = ask("GET", "/api/v1/cluster", "", "", bob_).content();
  EXPECT_GT(cluster["gpus"].value("used", 0), 0) << "totals stay";
  const json mine = ask("GET", "/api/v1/jobs", "", "", bob_).content();
  ASSERT_EQ(mine["jobs"].size(), 1u) << mine;
  EXPECT_EQ(mine["jobs"][0]["name"], "small");
  const std::string reason =
      ask("GET", "/api/v1/jobs/" + std::to_string(bobs_job_), "", "", bob_).body;
  EXPECT_NE(reason.find("a job of somebody else"), std::string::npos) << reason;
}

TEST_F(SeenByOwners, NoJobIsShared) {
  const std::string shared = yaml("shared") + "options: {shared_in_group: true}\n";
  for (const char* path : {"/api/v1/jobs", "/api/v1/jobs/dry_run"}) {
    const Answer answer = ask("POST", path, shared, "", bob_);
    EXPECT_EQ(answer.status, 409) << answer.body;
    EXPECT_NE(answer.body.find("visibility: own"), std::string::npos) << answer.body;
  }
}

TEST_F(SeenByTeams, AJobMayBeShared) {
  const std::string shared = yaml("shared") + "options: {shared_in_group: true}\n";
  EXPECT_EQ(ask("POST", "/api/v1/jobs", shared, "", bob_).status, 201);
}

TEST_F(SeenByTeams, WhoSharesAGroupSees) {
  EXPECT_EQ(tellers(bob_), 0) << told_;
  for (const char* user : {"ann", "bob"}) {
    ask("PUT", std::string("/api/v1/users/") + user, R"({"groups": ["vision"]})");
  }
  EXPECT_GE(tellers(bob_), 3);
}

TEST_F(SeenByAll, EverybodySeesRows) { EXPECT_GT(tellers(bob_), 3); }

TEST_F(SeenByAll, NobodyElseSeesWhatAJobRuns) {
  const std::string at = "/api/v1/jobs/" + std::to_string(anns_job_);
  const json hers = ask("GET", at, "", "", ann_).content();
  ASSERT_NE(hers.value("workspace", ""), "");
  const json row = ask("GET", at, "", "", bob_).content();
  EXPECT_EQ(row.value("name", ""), kHidden);
  EXPECT_EQ(row.value("node_count", 0), hers.value("node_count", -1));
  for (const char* part : {"workspace", "entrypoint", "parameters"}) {
    EXPECT_EQ(row.value(part, "x"), "") << part;
  }
  const std::string spec = ask("GET", at + "/spec", "", "", bob_).body;
  EXPECT_EQ(spec.find(hers.value("workspace", "")), std::string::npos) << spec;
  EXPECT_NE(spec.find("# what it runs: shown to ann"), std::string::npos) << spec;
  const json change = {{"priority", {{"job", std::to_string(anns_job_)}, {"priority", "low"}}}};
  const std::string what_if = ask("POST", "/api/v1/whatif", change.dump(), "", bob_).body;
  EXPECT_NE(what_if.find(kHidden), std::string::npos) << what_if;
  EXPECT_EQ(what_if.find(hers.value("entrypoint", "")), std::string::npos) << what_if;
}

}  // namespace
}  // namespace hai
