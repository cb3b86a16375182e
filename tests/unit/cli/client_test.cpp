#include "cli/client.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/fake_api.h"

namespace hai::cli {
namespace {

grpc::Status accept(const v1::SubmitJobRequest& request, v1::SubmitJobReply* reply) {
  reply->set_job_id(17);
  reply->set_name(request.spec().name());
  return grpc::Status::OK;
}

TEST(Client, SendsTheTokenWithEachCall) {
  FakeApi server;
  server.on_submit = accept;
  Client client({server.address()}, "secret");
  const Result<v1::SubmitJobReply> reply = client.submit_job({});
  ASSERT_TRUE(reply.is_ok()) << reply.status().message();
  EXPECT_EQ(reply.value().job_id(), 17);
  EXPECT_EQ(server.authorization, "Bearer secret");
}

TEST(Client, KeepsTheCodeAndTextOfARefusal) {
  FakeApi server;
  server.on_submit = [](const auto&, auto*) {
    return grpc::Status(grpc::StatusCode::FAILED_PRECONDITION, "64 nodes asked, training has 4");
  };
  Client client({server.address()}, "");
  EXPECT_EQ(client.submit_job({}).status(), failed_precondition("64 nodes asked, training has 4"));
}

TEST(Client, SaysWhichServerCannotBeReached) {
  Client client({"127.0.0.1:1"}, "");
  EXPECT_EQ(client.submit_job({}).status(),
            unavailable("cannot reach hai-server at 127.0.0.1:1: connection refused"));
}

TEST(Client, KeepsTheWordsOfAServerThatCannotReachSomethingItself) {
  FakeApi server;
  server.on_submit = [](const auto&, auto*) {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "postgres: Connection refused");
  };
  Client client({server.address()}, "");
  EXPECT_EQ(client.submit_job({}).status(), unavailable("postgres: Connection refused"));
}

TEST(Client, PassesOverServersThatAreAwayOrDoNotLead) {
  FakeApi standby;
  standby.on_submit = [](const auto&, auto*) {
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "not the leader");
  };
  FakeApi leader;
  leader.on_submit = accept;
  Client client({"127.0.0.1:1", standby.address(), leader.address()}, "");
  EXPECT_TRUE(client.submit_job({}).is_ok());
}

grpc::Status stand_by(const v1::SubmitJobRequest&, v1::SubmitJobReply*) {
  return {grpc::StatusCode::UNAVAILABLE, "not the leader"};
}

TEST(Client, GoesWhereAStandbySendsIt) {
  FakeApi leader;
  leader.on_submit = accept;
  FakeApi standby;
  standby.on_submit = stand_by;
  standby.leader = leader.address();
  Client client({standby.address()}, "secret");
  EXPECT_TRUE(client.submit_job({}).is_ok()) << "one living server of the list is enough";
  EXPECT_EQ(leader.authorization, "Bearer secret");
}

TEST(Client, RepeatsARequestOfUnknownFateAsItWas) {
  FakeApi server;
  std::vector<std::string> ids;
  server.on_submit = [&](const v1::SubmitJobRequest& request, v1::SubmitJobReply* reply) {
    ids.push_back(request.request_id());
    if (ids.size() == 1) {
      return grpc::Status(grpc::StatusCode::UNAVAILABLE, "it may or may not have been done");
    }
    return accept(request, reply);
  };
  Client client({server.address()}, "");
  v1::SubmitJobRequest request;
  request.set_request_id("r");
  EXPECT_TRUE(client.submit_job(request).is_ok());
  EXPECT_EQ(ids, (std::vector<std::string>{"r", "r"}));
}

TEST(Client, BelievesOldFactsOnlyIfNobodyKnowsBetter) {
  FakeApi old;
  old.on_submit = accept;
  old.stale_since = "2026-11-20T08:00:00Z";
  FakeApi leader;
  leader.on_submit = [](const auto&, v1::SubmitJobReply* reply) {
    reply->set_job_id(18);
    return grpc::Status::OK;
  };
  std::vector<std::string> notices;
  Client client({old.address(), leader.address()}, "");
  client.set_notice([&](const std::string& line) { notices.push_back(line); });
  EXPECT_EQ(client.submit_job({}).value().job_id(), 18);
  EXPECT_TRUE(notices.empty());
  Client alone({old.address(), "127.0.0.1:1"}, "");
  alone.set_notice([&](const std::string& line) { notices.push_back(line); });
  EXPECT_EQ(alone.submit_job({}).value().job_id(), 17);
  EXPECT_EQ(alone.submit_job({}).value().job_id(), 17);
  ASSERT_EQ(notices.size(), 1u) << "said once";
  EXPECT_NE(notices[0].find("the database cannot be reached; this is as of "), std::string::npos);
}

TEST(Client, EndsAStreamWhenNoMoreIsWanted) {
  FakeApi server;
  server.on_watch_job = [](const auto&, grpc::ServerWriter<v1::Job>* writer) {
    while (writer->Write(v1::Job())) continue;
    return grpc::Status::OK;
  };
  Client client({server.address()}, "");
  int seen = 0;
  EXPECT_TRUE(client.watch_job({}, [&](const v1::Job&) { return ++seen < 3; }).is_ok());
  EXPECT_EQ(seen, 3);
}

}  // namespace
}  // namespace hai::cli
