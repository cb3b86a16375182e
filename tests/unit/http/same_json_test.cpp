// REST and `hai -o json` tell the same of every noun: whole, key by key, in the same order.

#include "cli/client.h"
#include "cli/output.h"
#include "tests/unit/http/routes_fixture.h"

namespace hai {
namespace {

class SameJson : public RoutesFixture {
 protected:
  using Ordered = nlohmann::ordered_json;

  void expect_same(const std::string& path, const google::protobuf::Message& message) {
    const Answer answer = get(path);
    ASSERT_EQ(answer.status, 200) << path << ": " << answer.body;
    EXPECT_EQ(Ordered::parse(answer.body).dump(1), to_json(message).dump(1)) << path;
  }
  template <typename Reply>
  void expect_same(const std::string& path, const Result<Reply>& reply) {
    ASSERT_TRUE(reply.is_ok()) << path << ": " << reply.status().message();
    expect_same(path, reply.value());
  }

  cli::Client client_{{server_.grpc_address()}, LiveServer::kAdminToken};
};

TEST_F(SameJson, OfEveryNoun) {
  const int64_t ended = submit("ended");
  server_.finish_job(ended, 3);
  EXPECT_TRUE(server_.eventually([ended](Controller& controller) {
    const Job* job = controller.state().find(JobId{ended});
    return job == nullptr || job->is_terminal();
  }));
  const int64_t runs = submit("runs");
  const Answer waiting = ask("POST", "/api/v1/jobs", yaml("waits"));
  ASSERT_EQ(waiting.status, 201);
  EXPECT_EQ(ask("POST", "/api/v1/nodes/n1/cordon", R"({"reason": "dust"})").status, 200);
  token_of("ann", "user");
  EXPECT_EQ(ask("PUT", "/api/v1/quotas/ann/training/high", R"({"nodes": null})").status, 200);

  for (const int64_t id : {ended, runs, waiting.content().value("id", int64_t{0})}) {
    const std::string path = "/api/v1/jobs/" + std::to_string(id);
    v1::GetJobRequest job;
    job.set_job(std::to_string(id));
    expect_same(path, client_.get_job(job));
    v1::ListAttemptsRequest attempts;
    attempts.set_job(job.job());
    expect_same(path + "/attempts", client_.list_attempts(attempts));
    v1::WhyJobRequest why;
    why.set_job(job.job());
    expect_same(path + "/why?estimate=false", client_.why_job(why));
    v1::ListEventsRequest events;
    events.set_job(job.job());
    expect_same(path + "/events", client_.list_events(events));
  }
  v1::ListJobsRequest jobs;
  jobs.set_all_users(true);
  jobs.set_include_finished(true);
  expect_same("/api/v1/jobs?finished=true", client_.list_jobs(jobs));
  v1::GetNodeRequest node;
  node.set_name("n1");
  expect_same("/api/v1/nodes/n1", client_.get_node(node));
  expect_same("/api/v1/nodes", client_.list_nodes({}));
  expect_same("/api/v1/cluster", client_.get_cluster({}));
  expect_same("/api/v1/incidents", client_.list_incidents({}));
  expect_same("/api/v1/events?format=list", client_.list_events({}));
  expect_same("/api/v1/whoami", client_.who_am_i({}));
  expect_same("/api/v1/quotas", client_.list_quotas({}));
  expect_same("/api/v1/users", client_.list_users({}));
  expect_same("/api/v1/tokens", client_.list_tokens({}));
}

}  // namespace
}  // namespace hai
