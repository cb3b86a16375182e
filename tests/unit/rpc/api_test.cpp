// The Api as a client sees it, over loopback, with a real controller behind it.

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "hai/v1/api.grpc.pb.h"
#include "tests/support/live_server.h"

namespace hai {
namespace {

class Api : public ::testing::Test {
 protected:
  Api()
      : stub_(v1::Api::NewStub(
            grpc::CreateChannel(server_.grpc_address(), grpc::InsecureChannelCredentials()))) {}

  static void prepare(grpc::ClientContext& context, const std::string& token) {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  }

  template <typename Request, typename Reply>
  grpc::Status call(grpc::Status (v1::Api::Stub::*method)(grpc::ClientContext*, const Request&,
                                                          Reply*),
                    const Request& request, Reply& reply,
                    const std::string& token = LiveServer::kAdminToken) {
    grpc::ClientContext context;
    prepare(context, token);
    return (stub_.get()->*method)(&context, request, &reply);
  }

  static v1::SubmitJobRequest submission(const std::string& name) {
    v1::SubmitJobRequest request;
    v1::JobSpec& spec = *request.mutable_spec();
    spec.set_name(name);
    spec.set_priority("normal");
    spec.set_workspace("/data");
    spec.set_entrypoint("train.py");
    spec.set_group("training");
    spec.set_node_count(1);
    spec.set_launch("per_node");
    spec.set_env_style("hai");
    spec.set_cross_zone("allow");
    spec.mutable_suspend()->set_exit_code(85);
    spec.set_checkpoint_period_us(60'000'000);
    (*spec.mutable_environments())["PASSWORD"] = "secret";
    return request;
  }

  int64_t submit(const std::string& name) {
    v1::SubmitJobReply reply;
    const grpc::Status status = call(&v1::Api::Stub::SubmitJob, submission(name), reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply.job_id();
  }

  v1::Job get(int64_t id, const std::string& token = LiveServer::kAdminToken) {
    v1::GetJobRequest request;
    request.set_job(std::to_string(id));
    v1::Job job;
    const grpc::Status status = call(&v1::Api::Stub::GetJob, request, job, token);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return job;
  }

  bool is_running(int64_t id) {
    return server_.eventually([id](Controller& controller) {
      const Job* job = controller.state().find(JobId{id});
      return job != nullptr && job->state == JobState::running;
    });
  }

  // A user without any rights over others, and his token.
  std::string make_user(const std::string& name) {
    v1::SetUserRequest user;
    user.set_name(name);
    v1::User made;
    EXPECT_TRUE(call(&v1::Api::Stub::SetUser, user, made).ok());
    v1::CreateTokenRequest token;
    token.set_user(name);
    v1::CreateTokenReply reply;
    EXPECT_TRUE(call(&v1::Api::Stub::CreateToken, token, reply).ok());
    return reply.secret();
  }

  LiveServer server_;
  std::unique_ptr<v1::Api::Stub> stub_;
};

TEST_F(Api, AJobRunsAndEnds) {
  const int64_t id = submit("a");
  ASSERT_TRUE(is_running(id));
  v1::Job job = get(id);
  EXPECT_EQ(job.name(), "a");
  EXPECT_EQ(job.user(), "root");
  EXPECT_EQ(job.state(), "running");
  ASSERT_EQ(job.nodes_size(), 1);
  EXPECT_EQ(job.nodes(0), "n1");
  EXPECT_EQ(job.spec().environments().at("PASSWORD"), "secret");

  server_.finish_job(id, 3);
  ASSERT_TRUE(server_.eventually(
      [id](Controller& controller) { return controller.state().find(JobId{id})->is_terminal(); }));
  job = get(id);
  EXPECT_EQ(job.state(), "failed");
  EXPECT_EQ(job.exit_code(), 3);
}

TEST_F(Api, WithoutAGoodTokenNothingIsAnswered) {
  v1::Cluster cluster;
  for (const char* token : {"", "hai_wrong"}) {
    const grpc::Status status =
        call(&v1::Api::Stub::GetCluster, v1::GetClusterRequest(), cluster, token);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  }
}

TEST_F(Api, BadRequestsHaveReasons) {
  v1::SubmitJobRequest request = submission("a");
  request.mutable_spec()->set_priority("urgent");
  v1::SubmitJobReply reply;
  grpc::Status status = call(&v1::Api::Stub::SubmitJob, request, reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_NE(status.error_message().find("urgent"), std::string::npos);

  request = submission("a");
  request.mutable_spec()->set_node_count(7);
  status = call(&v1::Api::Stub::SubmitJob, request, reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();

  v1::GetJobRequest get;
  get.set_job("77");
  v1::Job job;
  status = call(&v1::Api::Stub::GetJob, get, job);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "job 77 does not exist");
}

TEST_F(Api, ARepeatedRequestGivesTheFirstAnswer) {
  v1::SubmitJobRequest request = submission("a");
  request.set_request_id("once");
  v1::SubmitJobReply first;
  v1::SubmitJobReply second;
  ASSERT_TRUE(call(&v1::Api::Stub::SubmitJob, request, first).ok());
  ASSERT_TRUE(call(&v1::Api::Stub::SubmitJob, request, second).ok());
  EXPECT_EQ(first.job_id(), second.job_id());
}

TEST_F(Api, ManyJobsHaveResultsEach) {
  v1::SubmitJobsRequest request;
  *request.add_jobs() = submission("a");
  *request.add_jobs() = submission("b");
  *request.add_jobs() = submission("a");
  v1::SubmitJobsReply reply;
  ASSERT_TRUE(call(&v1::Api::Stub::SubmitJobs, request, reply).ok());
  ASSERT_EQ(reply.results_size(), 3);
  EXPECT_EQ(reply.results(0).code(), 0);
  EXPECT_EQ(reply.results(1).job_id(), reply.results(0).job_id() + 1);
  EXPECT_EQ(reply.results(2).code(), static_cast<int>(grpc::StatusCode::ALREADY_EXISTS));
}

TEST_F(Api, FinishedJobsAreListedByWhenTheyEnded) {
  const int64_t id = submit("a");
  ASSERT_TRUE(is_running(id));
  server_.finish_job(id, 0);
  ASSERT_TRUE(server_.eventually(
      [id](Controller& controller) { return controller.state().find(JobId{id})->is_terminal(); }));
  const auto listed_since = [this](int64_t micros) {
    v1::ListJobsRequest request;
    request.set_include_finished(true);
    request.set_ended_since_us(micros);
    v1::ListJobsReply page;
    EXPECT_TRUE(call(&v1::Api::Stub::ListJobs, request, page).ok());
    return page.jobs_size();
  };
  const int64_t ended = get(id).ended_at_us();
  EXPECT_EQ(listed_since(ended), 1);
  EXPECT_EQ(listed_since(ended + 1), 0);
  submit("b");
  EXPECT_EQ(listed_since(ended + 1), 1) << "it has not ended";
}

TEST_F(Api, ListsArePaged) {
  for (int i = 0; i < 5; ++i) submit(fmt::format("j{}", i));
  v1::ListJobsRequest request;
  request.set_page_size(2);
  std::vector<std::string> names;
  do {
    v1::ListJobsReply page;
    ASSERT_TRUE(call(&v1::Api::Stub::ListJobs, request, page).ok());
    ASSERT_LE(page.jobs_size(), 2);
    for (const v1::Job& job : page.jobs()) names.push_back(job.name());
    request.set_cursor(page.next_cursor());
  } while (!request.cursor().empty());
  EXPECT_EQ(names, (std::vector<std::string>{"j4", "j3", "j2", "j1", "j0"}));
}

TEST_F(Api, ControlHasAResultForEachJob) {
  const int64_t id = submit("a");
  ASSERT_TRUE(is_running(id));
  v1::ControlJobRequest request;
  request.add_jobs("a");
  request.add_jobs("99");
  request.set_action(v1::JOB_ACTION_STOP);
  v1::ControlJobReply reply;
  ASSERT_TRUE(call(&v1::Api::Stub::ControlJob, request, reply).ok());
  ASSERT_EQ(reply.results_size(), 2);
  EXPECT_EQ(reply.results(0).code(), 0) << reply.results(0).message();
  EXPECT_EQ(reply.results(0).job_id(), id);
  EXPECT_EQ(reply.results(1).code(), static_cast<int>(grpc::StatusCode::NOT_FOUND));
  EXPECT_TRUE(server_.eventually([id](Controller& controller) {
    return controller.state().find(JobId{id})->state == JobState::stopped;
  }));
}

TEST_F(Api, OthersSeeAJobButNeitherItsSecretsNorItsLog) {
  const int64_t id = submit("a");
  ASSERT_TRUE(is_running(id));
  const std::string token = make_user("ann");
  const v1::Job job = get(id, token);
  EXPECT_EQ(job.state(), "running");
  EXPECT_TRUE(job.spec().environments().empty());

  v1::ControlJobRequest stop;
  stop.add_jobs(std::to_string(id));
  stop.set_action(v1::JOB_ACTION_STOP);
  v1::ControlJobReply reply;
  ASSERT_TRUE(call(&v1::Api::Stub::ControlJob, stop, reply, token).ok());
  EXPECT_EQ(reply.results(0).code(), static_cast<int>(grpc::StatusCode::PERMISSION_DENIED));

  grpc::ClientContext context;
  prepare(context, token);
  v1::ReadLogRequest read;
  read.set_job(std::to_string(id));
  v1::ReadLogReply piece;
  auto reader = stub_->ReadLog(&context, read);
  EXPECT_FALSE(reader->Read(&piece));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::PERMISSION_DENIED);
}

TEST_F(Api, ARevokedTokenIsNoMore) {
  const std::string token = make_user("ann");
  v1::ListTokensReply tokens;
  ASSERT_TRUE(call(&v1::Api::Stub::ListTokens, v1::ListTokensRequest(), tokens, token).ok());
  ASSERT_EQ(tokens.tokens_size(), 1);
  v1::RevokeTokenRequest revoke;
  revoke.set_id(tokens.tokens(0).id());
  v1::RevokeTokenReply revoked;
  ASSERT_TRUE(call(&v1::Api::Stub::RevokeToken, revoke, revoked, token).ok());
  EXPECT_EQ(call(&v1::Api::Stub::ListTokens, v1::ListTokensRequest(), tokens, token).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(Api, AWatcherSeesTheJobUntilItsEnd) {
  const int64_t id = submit("a");
  ASSERT_TRUE(is_running(id));
  grpc::ClientContext context;
  prepare(context, LiveServer::kAdminToken);
  v1::WatchJobRequest request;
  request.set_job("a");
  auto reader = stub_->WatchJob(&context, request);
  v1::Job job;
  ASSERT_TRUE(reader->Read(&job));
  EXPECT_EQ(job.state(), "running");
  server_.finish_job(id, 0);
  std::string last;
  while (reader->Read(&job)) last = job.state();
  EXPECT_EQ(last, "succeeded");
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(Api, EventsGoOnFromWhereOneWas) {
  const int64_t id = submit("a");
  ASSERT_TRUE(is_running(id));
  v1::ListEventsRequest list;
  list.set_job("a");
  list.set_after_seq(0);
  v1::ListEventsReply events;
  ASSERT_TRUE(call(&v1::Api::Stub::ListEvents, list, events).ok());
  ASSERT_GE(events.events_size(), 3);
  EXPECT_EQ(events.events(0).kind(), "job_submitted");
  EXPECT_EQ(events.events(0).body_json().find("secret"), std::string::npos);

  grpc::ClientContext context;
  prepare(context, LiveServer::kAdminToken);
  v1::WatchEventsRequest request;
  request.set_after_seq(events.events(0).seq());
  request.set_job("a");
  auto reader = stub_->WatchEvents(&context, request);
  v1::Event event;
  ASSERT_TRUE(reader->Read(&event));
  EXPECT_EQ(event.kind(), "attempt_placed");
  server_.finish_job(id, 0);
  while (reader->Read(&event) && event.kind() != "job_finished") {
  }
  EXPECT_EQ(event.kind(), "job_finished");
  context.TryCancel();
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(Api, ALogIsFollowedToItsEnd) {
  const int64_t id = submit("a");
  ASSERT_TRUE(is_running(id));
  server_.write_log("one\n");
  grpc::ClientContext context;
  prepare(context, LiveServer::kAdminToken);
  v1::ReadLogRequest request;
  request.set_job("a");
  request.set_follow(true);
  auto reader = stub_->ReadLog(&context, request);
  v1::ReadLogReply piece;
  ASSERT_TRUE(reader->Read(&piece));
  EXPECT_EQ(piece.data(), "one\n");
  EXPECT_EQ(piece.attempt(), 1);
  server_.write_log("two\n");
  ASSERT_TRUE(reader->Read(&piece));
  EXPECT_EQ(piece.data(), "two\n");
  EXPECT_EQ(piece.offset(), 4);
  server_.finish_job(id, 0);
  bool has_ended = false;
  while (reader->Read(&piece)) has_ended = piece.end();
  EXPECT_TRUE(has_ended);
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(Api, NodesAreListedAndDrained) {
  v1::ControlNodeRequest drain;
  drain.add_nodes("n[1-2]");
  drain.set_action(v1::NODE_ACTION_DRAIN);
  drain.set_reason("disk");
  v1::ControlNodeReply drained;
  // All of a list, or nothing.
  EXPECT_EQ(call(&v1::Api::Stub::ControlNode, drain, drained).error_code(),
            grpc::StatusCode::NOT_FOUND);
  drain.set_nodes(0, "n[1-1]");
  ASSERT_TRUE(call(&v1::Api::Stub::ControlNode, drain, drained).ok());
  ASSERT_EQ(drained.results_size(), 1);
  EXPECT_EQ(drained.results(0).code(), 0);

  v1::ListNodesReply nodes;
  ASSERT_TRUE(call(&v1::Api::Stub::ListNodes, v1::ListNodesRequest(), nodes).ok());
  ASSERT_EQ(nodes.nodes_size(), 1);
  EXPECT_EQ(nodes.nodes(0).scheduling(), "drained");
  EXPECT_EQ(nodes.nodes(0).reason(), "disk");
  EXPECT_EQ(nodes.nodes(0).reason_by(), "root");

  v1::Cluster cluster;
  ASSERT_TRUE(call(&v1::Api::Stub::GetCluster, v1::GetClusterRequest(), cluster).ok());
  EXPECT_EQ(cluster.gpus_total(), 8);
  EXPECT_EQ(cluster.gpus_draining(), 8);
  EXPECT_EQ(cluster.gpus_free(), 0);
}

// Of two who add one name at once, each without knowing of the other.
TEST_F(Api, AUserIsAddedOnce) {
  v1::SetUserRequest first;
  first.set_name("ann");
  first.set_role("operator");
  first.set_only_new(true);
  v1::SetUserRequest second = first;
  second.set_role("user");
  second.set_set_groups(true);
  second.add_groups("ml");
  v1::User made;
  ASSERT_TRUE(call(&v1::Api::Stub::SetUser, first, made).ok());
  const grpc::Status refused = call(&v1::Api::Stub::SetUser, second, made);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_THAT(refused.error_message(), testing::HasSubstr("the user ann is there already"));
  ASSERT_TRUE(call(&v1::Api::Stub::SetUser, first, made).ok()) << "its answer was lost";
  EXPECT_EQ(made.role(), "operator");
  EXPECT_EQ(made.groups_size(), 0);
  second.set_only_new(false);
  ASSERT_TRUE(call(&v1::Api::Stub::SetUser, second, made).ok());
  EXPECT_EQ(made.groups_size(), 1);
}

TEST_F(Api, QuotasOfAllLevelsAtOnce) {
  v1::SetUserRequest user;
  user.set_name("ann");
  v1::User made;
  ASSERT_TRUE(call(&v1::Api::Stub::SetUser, user, made).ok());
  v1::SetQuotaRequest request;
  request.set_owner("ann");
  request.set_group("training");
  request.set_priority("*");
  request.set_nodes(3);
  v1::Quota quota;
  ASSERT_TRUE(call(&v1::Api::Stub::SetQuota, request, quota).ok());
  v1::ListQuotasRequest list;
  list.set_owner("ann");
  v1::ListQuotasReply quotas;
  ASSERT_TRUE(call(&v1::Api::Stub::ListQuotas, list, quotas).ok());
  EXPECT_EQ(quotas.quotas_size(), 8);

  v1::DeleteQuotaRequest remove;
  remove.set_owner("ann");
  remove.set_group("training");
  v1::DeleteQuotaReply removed;
  ASSERT_TRUE(call(&v1::Api::Stub::DeleteQuota, remove, removed).ok());
  EXPECT_EQ(call(&v1::Api::Stub::DeleteQuota, remove, removed).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

}  // namespace
}  // namespace hai
