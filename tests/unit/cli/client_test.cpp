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
