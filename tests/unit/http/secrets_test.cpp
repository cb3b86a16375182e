// Secrets as people meet them: set, listed and removed by their owner, in a rank's environment, and
// nowhere else.

#include <gmock/gmock.h>

#include "common/launch_refusal.h"
#include "tests/unit/http/routes_fixture.h"

namespace hai {
namespace {

using ::testing::HasSubstr;

class Secrets : public RoutesFixture {
 protected:
  Secrets()
      : RoutesFixture([](ServerConfig&, ServingSecrets& secrets) {
          secrets.sealer.emplace(Sealer::make("secrets", {std::string(32, 'k')}).value());
        }) {
    ann_ = token_of("ann", "user");
    bob_ = token_of("bob", "user");
  }
  Answer set(const std::string& name, const std::string& value, const std::string& token) {
    return ask("PUT", "/api/v1/secrets/" + name, json{{"value", value}}.dump(), "", token);
  }
  static std::string yaml_with(const std::string& name, const std::string& secrets) {
    return "version: 2\nname: " + name + "\nspec: {workspace: /data, entrypoint: train.py, " +
           "secrets: " + secrets + "}\nresource: {node_count: 1}\n";
  }
  // Of a job of ann's.
  LaunchRank launch_of(const std::string& name, const std::string& secrets) {
    const Answer answer = ask("POST", "/api/v1/jobs", yaml_with(name, secrets), "", ann_);
    EXPECT_EQ(answer.status, 201) << answer.body;
    LaunchRank launch;
    EXPECT_TRUE(server_.eventually([&](Controller& controller) {
      const Job* job = controller.state().find(JobId{answer.content().value("id", 0)});
      return job != nullptr && job->state == JobState::running;
    }));
    return server_.last_launch();
  }
  std::string ann_, bob_;
};

TEST_F(Secrets, ReachTheRanksOfTheirOwner) {
  EXPECT_EQ(set("key", "hunter2-of-ann", ann_).status, 200);
  EXPECT_EQ(set("key", "hunter2-of-bob", bob_).status, 200);
  const LaunchRank launch = launch_of("j", "{KEY: key}");
  EXPECT_EQ(launch.environments.at("KEY"), "hunter2-of-ann");
  EXPECT_TRUE(launch.secrets.empty());
}

TEST_F(Secrets, AreNeverShown) {
  EXPECT_EQ(set("key", "hunter2", ann_).content().value("version", 0), 1);
  const Answer again = set("key", "hunter3", ann_);
  EXPECT_EQ(again.content().value("version", 0), 2);
  EXPECT_EQ(again.body.find("hunter"), std::string::npos) << again.body;
  launch_of("j", "{KEY: key}");
  std::string said;
  for (const char* path :
       {"/api/v1/secrets", "/api/v1/secrets?user=ann", "/api/v1/jobs/1", "/api/v1/jobs/1/spec",
        "/api/v1/events?format=list", "/api/v1/jobs?finished=true", "/metrics"}) {
    said += get(path).body + ask("GET", path, "", "", ann_).body;
  }
  EXPECT_EQ(said.find("hunter"), std::string::npos);
  std::string sealed;
  server_.on_loop([&] { sealed = server_.controller().state().find_secret("ann", "key")->sealed; });
  EXPECT_EQ(said.find(sealed), std::string::npos) << "nor as the store has it";
  EXPECT_THAT(ask("GET", "/api/v1/jobs/1/spec", "", "", ann_).body, HasSubstr("KEY: key"));
  EXPECT_THAT(ask("GET", "/api/v1/jobs/1/spec", "", "", bob_).body,
              HasSubstr("shown to ann, who shares a user group, and operators only"));
  EXPECT_EQ(ask("GET", "/api/v1/jobs/1/spec", "", "", bob_).body.find("KEY: key"),
            std::string::npos);
}

TEST_F(Secrets, AreTheirOwners) {
  EXPECT_EQ(set("key", "hunter2", ann_).status, 200);
  EXPECT_EQ(ask("GET", "/api/v1/secrets", "", "", bob_).content()["secrets"], json::array());
  const json hers = ask("GET", "/api/v1/secrets", "", "", ann_).content()["secrets"];
  ASSERT_EQ(hers.size(), 1u);
  EXPECT_EQ(hers[0]["name"], "key");
  EXPECT_EQ(ask("GET", "/api/v1/secrets?user=ann", "", "", bob_).status, 403);
  EXPECT_EQ(ask("DELETE", "/api/v1/secrets/key", "", "", bob_).status, 404);
  const Answer refused = ask("POST", "/api/v1/jobs", yaml_with("j", "{KEY: key}"), "", bob_);
  EXPECT_EQ(refused.status, 404);
  EXPECT_THAT(refused.body, HasSubstr("bob has no secret named key"));
  EXPECT_THAT(ask("POST", "/api/v1/jobs/dry_run", yaml_with("j", "{KEY: key}"), "", bob_).body,
              HasSubstr("bob has no secret named key"));
  EXPECT_EQ(ask("POST", "/api/v1/jobs/dry_run", yaml_with("j", "{KEY: key}"), "", ann_).status,
            200);
  EXPECT_EQ(ask("DELETE", "/api/v1/secrets/key", "", "", ann_).status / 100, 2);
}

TEST_F(Secrets, AreJudgedBeforeTheyAreKept) {
  EXPECT_EQ(set("key", "", ann_).status, 400);
  EXPECT_EQ(set("key", std::string(65'537, 'x'), ann_).status, 400);
  EXPECT_EQ(set("key", std::string(65'536, 'x'), ann_).status, 200);
  EXPECT_EQ(set("key", std::string("a\0b", 3), ann_).status, 400);
  EXPECT_EQ(set("k@y", "x", ann_).status, 400);
  EXPECT_EQ(ask("PUT", "/api/v1/secrets/key", R"({"value": "x"})", "", "").status, 401);
}

TEST_F(Secrets, ThatAreGoneKeepTheRankFromStarting) {
  EXPECT_EQ(set("key", "hunter2", ann_).status, 200);
  submit("first");
  const Answer second = ask("POST", "/api/v1/jobs", yaml_with("second", "{KEY: key}"), "", ann_);
  ASSERT_EQ(second.status, 201) << second.body;
  EXPECT_EQ(ask("DELETE", "/api/v1/secrets/key", "", "", ann_).status / 100, 2);
  server_.finish_job(1, 0);
  const int64_t id = second.content().value("id", 0);
  EXPECT_TRUE(server_.eventually([id](Controller& controller) {
    return controller.state().find(JobId{id})->state == JobState::running;
  }));
  const LaunchRank launch = server_.last_launch();
  ASSERT_TRUE(launch.environments.contains(std::string(kLaunchRefusal)));
  EXPECT_THAT(launch.environments.at(std::string(kLaunchRefusal)),
              HasSubstr("the secret key of ann is not there any more"));
}

// `environments: {TOKEN: {secret: VALUE}}`: the rank has the value, and the job never had it.
class SealedEnvironments : public Secrets {
 protected:
  static std::string file(const std::string& name, const std::string& value) {
    return "version: 2\nname: " + name + "\nspec: {workspace: /data, entrypoint: train.py, " +
           "environments: {PLAIN: text, TOKEN: {secret: " + value +
           "}}}\nresource: {node_count: 1}\n";
  }
  Answer submit_file(const std::string& text, const std::string& request_id = "") {
    return ask("POST", "/api/v1/jobs", text,
               request_id.empty() ? "" : "Idempotency-Key: " + request_id + "\r\n", ann_);
  }
  LaunchRank launch_when_running(int64_t id) {
    EXPECT_TRUE(server_.eventually([id](Controller& controller) {
      const Job* job = controller.state().find(JobId{id});
      return job != nullptr && job->state == JobState::running;
    }));
    return server_.last_launch();
  }
  void end(int64_t id) {
    server_.finish_job(id, 0);
    EXPECT_TRUE(server_.eventually([id](Controller& controller) {
      return controller.state().find(JobId{id})->is_terminal();
    }));
  }
};

TEST_F(SealedEnvironments, ReachTheRankAndNothingElse) {
  const Answer answer = submit_file(file("j", "hunter2"));
  ASSERT_EQ(answer.status, 201) << answer.body;
  const LaunchRank launch = launch_when_running(1);
  EXPECT_EQ(launch.environments.at("TOKEN"), "hunter2");
  EXPECT_EQ(launch.environments.at("PLAIN"), "text");
  std::string said, stored;
  for (const char* path :
       {"/api/v1/jobs/1", "/api/v1/jobs/1/spec", "/api/v1/jobs/1/events",
        "/api/v1/events?format=list", "/api/v1/jobs?finished=true", "/metrics"}) {
    said += get(path).body + ask("GET", path, "", "", ann_).body;
  }
  server_.on_loop([&] {
    stored = server_.controller().state().find(JobId{1})->spec->environments.at("TOKEN");
  });
  EXPECT_EQ(said.find("hunter"), std::string::npos) << said;
  EXPECT_TRUE(stored.starts_with("hai-sealed:")) << stored;
  EXPECT_EQ(stored.find("hunter"), std::string::npos) << stored;
  EXPECT_THAT(ask("GET", "/api/v1/jobs/1/spec", "", "", ann_).body, HasSubstr(stored));
  EXPECT_EQ(ask("GET", "/api/v1/jobs/1/spec", "", "", bob_).body.find(stored), std::string::npos);
}

TEST_F(SealedEnvironments, AreThereWhenTheJobIsRunAgain) {
  ASSERT_EQ(submit_file(file("j", "hunter2")).status, 201);
  launch_when_running(1);
  end(1);
  const Answer again = ask("POST", "/api/v1/jobs/1/rerun", "{}", "", ann_);
  ASSERT_EQ(again.status, 201) << again.body;
  const LaunchRank launch = launch_when_running(again.content().value("job_id", 0));
  EXPECT_EQ(launch.environments.at("TOKEN"), "hunter2");
}

TEST_F(SealedEnvironments, OfARepeatedRequestAreTheSame) {
  const Answer first = submit_file(file("j", "hunter2"), "once");
  ASSERT_EQ(first.status, 201) << first.body;
  const Answer again = submit_file(file("j", "hunter2"), "once");
  EXPECT_EQ(again.content().value("id", 0), first.content().value("id", -1)) << again.body;
  EXPECT_EQ(submit_file(file("j", "hunter3"), "once").status, 409) << "another value, another job";
}

// What is sealed for one is worth nothing to another, nor in another variable.
TEST_F(SealedEnvironments, OpenForTheirUserAndVariableOnly) {
  ASSERT_EQ(submit_file(file("j", "hunter2")).status, 201);
  launch_when_running(1);
  std::string sealed;
  server_.on_loop([&] {
    sealed = server_.controller().state().find(JobId{1})->spec->environments.at("TOKEN");
  });
  end(1);
  const auto refused = [&](const std::string& variable, const std::string& token) {
    const std::string text = "version: 2\nname: k\nspec: {workspace: /data, entrypoint: t.py, " +
                             ("environments: {" + variable) + ": \"" + sealed +
                             "\"}}\nresource: {node_count: 1}\n";
    const Answer answer = ask("POST", "/api/v1/jobs", text, "", token);
    EXPECT_EQ(answer.status, 201) << answer.body;
    const int64_t id = answer.content().value("id", 0);
    const LaunchRank launch = launch_when_running(id);
    end(id);
    const auto why = launch.environments.find(std::string(kLaunchRefusal));
    return why == launch.environments.end() ? "" : why->second;
  };
  EXPECT_THAT(refused("TOKEN", bob_), HasSubstr("the secret value of TOKEN does not open"));
  EXPECT_THAT(refused("OTHER", ann_), HasSubstr("the secret value of OTHER does not open"));
  EXPECT_EQ(refused("TOKEN", ann_), "");
}

class WithoutKey : public RoutesFixture {};

TEST_F(WithoutKey, NobodySealsEnvironments) {
  const Answer refused = ask("POST", "/api/v1/jobs",
                             "version: 2\nname: j\nspec: {workspace: /data, entrypoint: e, "
                             "environments: {A: {secret: x}}}\nresource: {node_count: 1}\n");
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr("spec.environments.A: this server seals nothing"));
}

TEST_F(WithoutKey, NobodyKeepsSecrets) {
  const Answer refused = ask("PUT", "/api/v1/secrets/key", R"({"value": "x"})");
  EXPECT_EQ(refused.status, 409) << refused.body;
  EXPECT_THAT(refused.body, HasSubstr("secrets.key_file"));
}

}  // namespace
}  // namespace hai
