// Lists of jobs, many at once, and what there is to know of one.

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/http/routes_fixture.h"

namespace hai {
namespace {

class JobRoutes : public RoutesFixture {
 protected:
  int64_t queue(const std::string& name, const std::string& more = "",
                const std::string& token = LiveServer::kAdminToken) {
    const Answer answer = ask("POST", "/api/v1/jobs", yaml(name) + more, "", token);
    EXPECT_EQ(answer.status, 201) << answer.body;
    return answer.content().value("id", 0);
  }
  std::vector<std::string> names(const std::string& query) {
    const Answer answer = get("/api/v1/jobs?" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    std::vector<std::string> names;
    const json page = answer.content();
    for (const json& job : page["jobs"]) names.push_back(job["name"]);
    return names;
  }
  using Names = std::vector<std::string>;
};

TEST_F(JobRoutes, AreSortedFilteredAndCounted) {
  submit("first", "priority: very_high\n");  // runs; the others wait for its node
  queue("beta", "priority: low\noptions: {tags: [nightly]}\n");
  queue("alpha", "priority: high\n");
  queue("gamma", "priority: low\n");
  EXPECT_EQ(names(""), (Names{"gamma", "alpha", "beta", "first"}));
  EXPECT_EQ(names("sort=id"), (Names{"first", "beta", "alpha", "gamma"}));
  EXPECT_EQ(names("sort=name&state=queued"), (Names{"alpha", "beta", "gamma"}));
  EXPECT_EQ(names("sort=-priority&state=queued"), (Names{"alpha", "gamma", "beta"}));
  EXPECT_EQ(names("priority=low"), (Names{"gamma", "beta"}));
  EXPECT_EQ(names("q=AMM"), (Names{"gamma"}));
  EXPECT_EQ(names("q=night"), (Names{"beta"}));
  EXPECT_EQ(names("q=nothing"), Names{});
  EXPECT_EQ(names("reason=held"), Names{});
  ASSERT_EQ(ask("POST", "/api/v1/jobs/beta/hold").status, 200);
  EXPECT_EQ(names("reason=held&reason=quota"), (Names{"beta"}));
  EXPECT_EQ(names("reason=held&finished=true"), (Names{"beta"}));

  const json counted = get("/api/v1/jobs?total=true&limit=1&state=queued").content();
  EXPECT_EQ(counted["total"], 3);
  EXPECT_EQ(counted["jobs"].size(), 1u);
  EXPECT_FALSE(get("/api/v1/jobs").content().contains("total"));
  const json few = get("/api/v1/jobs?fields=id,name,nonsense&limit=1").content();
  EXPECT_EQ(few["jobs"][0].size(), 2u) << few;
}

TEST_F(JobRoutes, PagesNeitherRepeatNorLeaveOut) {
  submit("first");
  for (int i = 0; i < 7; ++i) queue(fmt::format("job-{}", 6 - i));
  for (const std::string sort : {"", "name", "-name", "-submitted_at", "id", "priority", "state"}) {
    std::vector<std::string> seen;
    std::string cursor;
    for (int page = 0; page < 20; ++page) {
      const json answer =
          get("/api/v1/jobs?limit=3&sort=" + sort + (cursor.empty() ? "" : "&cursor=" + cursor))
              .content();
      for (const json& job : answer["jobs"]) seen.push_back(job["name"]);
      if (answer["next_cursor"].is_null()) break;
      cursor = answer["next_cursor"];
    }
    EXPECT_EQ(seen.size(), 8u) << sort;
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 8u) << sort;
    if (sort == "name") {
      EXPECT_TRUE(std::ranges::is_sorted(seen));
    }
  }
}

TEST_F(JobRoutes, BadListsAreRefused) {
  for (const char* query : {"sort=nose", "sort=--id", "sort=name&cursor=7",
                            "sort=name&cursor=1.2.zz", "sort=name&cursor=1.2.616", "reason=boredom",
                            "priority=urgent", "total=perhaps", "cursor=x"}) {
    EXPECT_EQ(get(std::string("/api/v1/jobs?") + query).status, 400) << query;
  }
  EXPECT_EQ(get("/api/v1/jobs?q=" + std::string(201, 'x')).status, 400);
}

TEST_F(JobRoutes, ManyAreControlledAtOnce) {
  const int64_t one = submit("one");
  queue("two");
  const Answer answer =
      ask("POST", "/api/v1/jobs/actions",
          json{{"verb", "stop"}, {"jobs", {one, "two", 99}}, {"reason", "night"}}.dump());
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json results = answer.content()["results"];
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0]["code"], "ok");
  EXPECT_EQ(results[1]["code"], "ok");
  EXPECT_EQ(results[2]["code"], "not_found");
  EXPECT_TRUE(results[2]["job_id"].is_null());
  for (const char* body :
       {"", "[]", "{}", R"({"verb":"stop"})", R"({"verb":"stop","jobs":[]})",
        R"({"verb":"explode","jobs":["a"]})", R"({"verb":"stop","jobs":[{}]})",
        R"({"verb":"stop","jobs":["a"],"why":"x"})", R"({"verb":1,"jobs":["a"]})"}) {
    EXPECT_EQ(ask("POST", "/api/v1/jobs/actions", body).status, 400) << body;
  }
  const Answer slip = ask("POST", "/api/v1/nodes/actions",
                          R"({"verb":"cordon","nodes":["n1","n9"],"reason":"disk"})");
  ASSERT_EQ(slip.status, 404) << slip.body;
  EXPECT_EQ(get("/api/v1/nodes/n1").content()["scheduling"], "open") << "all of a list, or nothing";
  const Answer nodes =
      ask("POST", "/api/v1/nodes/actions", R"({"verb":"cordon","nodes":["n1"],"reason":"disk"})");
  ASSERT_EQ(nodes.status, 200) << nodes.body;
  EXPECT_EQ(nodes.content()["results"][0]["code"], "ok");
  EXPECT_EQ(get("/api/v1/nodes/n1").content()["scheduling"], "cordoned");
}

TEST_F(JobRoutes, TheSpecComesBackWithItsSecretsForWhoMaySeeThem) {
  const std::string ann = token_of("ann", "user");
  const std::string bob = token_of("bob", "user");
  const std::string operator_token = token_of("olga", "operator");
  const Answer job = ask("POST", "/api/v1/jobs",
                         "version: 2\nname: s\nspec: {workspace: /data, entrypoint: a.py, "
                         "environments: {KEY: hidden}}\n",
                         "", ann);
  ASSERT_EQ(job.status, 201) << job.body;
  const std::string path = fmt::format("/api/v1/jobs/{}/spec", job.content()["id"].get<int>());
  for (const std::string& token : {ann, operator_token}) {
    const Answer spec = ask("GET", path, "", "", token);
    EXPECT_NE(spec.head.find("application/yaml"), std::string::npos);
    EXPECT_NE(spec.body.find("KEY: hidden"), std::string::npos) << spec.body;
  }
  const Answer hidden = ask("GET", path, "", "", bob);
  EXPECT_EQ(hidden.status, 200);
  EXPECT_EQ(hidden.body.find("hidden"), std::string::npos);
  EXPECT_NE(hidden.body.find("shown to ann"), std::string::npos);
  EXPECT_EQ(get("/api/v1/jobs/99/spec").status, 404);
}

TEST_F(JobRoutes, AreValidatedWithoutBeingSubmitted) {
  const Answer good = ask("POST", "/api/v1/jobs/dry_run", yaml("a"));
  EXPECT_EQ(good.status, 200) << good.body;
  EXPECT_EQ(good.content()["valid"], true);
  EXPECT_EQ(names("finished=true"), Names{});
  EXPECT_EQ(ask("POST", "/api/v1/jobs/validate", yaml("a")).status, 200) << "its earlier path";
  const Answer bad = ask("POST", "/api/v1/jobs/dry_run", "version: 2\nnam: a\n");
  EXPECT_EQ(bad.status, 400);
  ASSERT_GE(bad.content()["errors"].size(), 2u) << bad.body;
  bool is_named = false;
  const json errors = bad.content()["errors"];
  for (const json& error : errors)
    is_named = is_named || (error["line"] == 2 && error["path"] == "nam");
  EXPECT_TRUE(is_named) << errors;
  const Answer large =
      ask("POST", "/api/v1/jobs/dry_run",
          "version: 2\nname: a\nspec: {workspace: /d, entrypoint: e}\nresource: {node_count: 5}\n");
  EXPECT_EQ(large.status, 400);
  EXPECT_NE(large.content().value("detail", "").find("5 asked"), std::string::npos) << large.body;
  submit("a");
  EXPECT_EQ(ask("POST", "/api/v1/jobs/dry_run", yaml("a")).status, 409) << "the name is taken";
}

TEST_F(JobRoutes, DryRunsAndWhatIfsKnowTheTasksOfArrays) {
  submit("first");  // the node is taken
  const int64_t sweep = queue("sweep", "array: 0-999\n");
  ASSERT_TRUE(server_.eventually([sweep](Controller& controller) {
    return controller.state().unfinished_tasks(JobId{sweep}).size() > 100;
  }));
  const auto dry_run = [&](const std::string& name, const std::string& dependency) {
    return ask("POST", "/api/v1/jobs/dry_run",
               yaml(name) + fmt::format("options: {{depends_on: [\"{}\"]}}\n", dependency));
  };
  const auto priority_of = [&](int index) {
    const json change{{"job", fmt::format("{}_{}", sweep, index)}, {"priority", "high"}};
    return ask("POST", "/api/v1/whatif", json{{"priority", change}}.dump());
  };
  for (const int index : {3, 990}) {  // one that is made, and one that is still to come
    const Answer next = dry_run("next", fmt::format("afterok:{}_{}", sweep, index));
    EXPECT_EQ(next.status, 200) << next.body;
    const Answer priority = priority_of(index);
    EXPECT_EQ(priority.status, 200) << priority.body;
    EXPECT_EQ(priority.content()["job"]["name"], "sweep") << priority.body;
  }
  EXPECT_EQ(dry_run("next", fmt::format("afterok:{}_1000", sweep)).status, 404);
  EXPECT_EQ(priority_of(1000).status, 404);
  const Answer in_line = dry_run("sweep", "singleton");
  EXPECT_EQ(in_line.status, 200) << "its tasks are not in line: " << in_line.body;
  server_.on_loop([&] {
    const ClusterState& state = server_.controller().state();
    EXPECT_EQ(state.find_task({JobId{sweep}, 990}), nullptr) << "nothing was made";
  });
}

TEST_F(JobRoutes, CheckpointsAndProgressOfNone) {
  const int64_t id = submit("a");
  const json checkpoints = get(fmt::format("/api/v1/jobs/{}/checkpoints", id)).content();
  EXPECT_EQ(checkpoints["checkpoints"], json::array());
  EXPECT_EQ(get(fmt::format("/api/v1/jobs/{}/progress", id)).content()["points"], json::array());
  EXPECT_EQ(get("/api/v1/jobs/99/checkpoints").status, 404);
  EXPECT_EQ(get("/api/v1/jobs/99/progress").status, 404);
}

TEST_F(JobRoutes, AFollowedLogBeginsAtOnce) {
  const int64_t id = submit("a");
  const std::string head =
      http_exchange(server_.http_port(),
                    fmt::format("GET /api/v1/jobs/{}/logs?follow=true HTTP/1.1\r\nHost: "
                                "t\r\nAuthorization: Bearer {}\r\n\r\n",
                                id, LiveServer::kAdminToken),
                    "\r\n\r\n");
  EXPECT_NE(head.find("200 OK"), std::string::npos) << "though nothing was written yet: " << head;
  EXPECT_EQ(get(fmt::format("/api/v1/jobs/{}/logs?follow=true&rank=4", id)).status, 404);
}

}  // namespace
}  // namespace hai
