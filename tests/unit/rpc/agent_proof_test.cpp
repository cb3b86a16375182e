// Who may speak as an agent, judged before and with its hello.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "hai/v1/agent.grpc.pb.h"
#include "proto/convert/agent_convert.h"
#include "server/rpc/agent_service.h"
#include "tests/support/standby_server.h"

namespace hai {
namespace {

// The agent's side of a stream, call by call.
class Speaker {
 public:
  explicit Speaker(const std::string& server, const std::string& token_in_metadata = "",
                   std::chrono::seconds patience = std::chrono::seconds(10))
      : stub_(v1::AgentService::NewStub(
            grpc::CreateChannel(server, grpc::InsecureChannelCredentials()))) {
    context_.set_deadline(std::chrono::system_clock::now() + patience);
    if (!token_in_metadata.empty()) {
      context_.AddMetadata("authorization", "Bearer " + token_in_metadata);
    }
    stream_ = stub_->Connect(&context_);
  }
  ~Speaker() { context_.TryCancel(); }
  void say_hello(const std::string& token) {
    v1::AgentMessage message;
    message.mutable_hello()->set_protocol_newest(kProtocols.newest);
    message.mutable_hello()->set_agent_token(token);
    message.mutable_hello()->set_node("n1");
    stream_->Write(message);
  }
  // How the server ends the stream.
  grpc::Status end() {
    v1::ServerMessage ignored;
    while (stream_->Read(&ignored)) {
    }
    return stream_->Finish();
  }

 private:
  std::unique_ptr<v1::AgentService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AgentMessage, v1::ServerMessage>> stream_;
};

// Found by review: "" was the secret of a server that had none.
TEST(AgentProof, AServerWithoutASecretLetsNobodyIn) {
  StandbyServer server({}, {}, "");
  Speaker agent(server.grpc_address());
  agent.say_hello("");
  const grpc::Status status = agent.end();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << status.error_message();
}

TEST(AgentProof, AWrongTokenIsRefusedBeforeTheHello) {
  StandbyServer server({}, {}, "hai_the_token_of_agents");
  const grpc::Status status = Speaker(server.grpc_address(), "hai_another_token").end();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAUTHENTICATED) << status.error_message();
  EXPECT_EQ(status.error_message(), "the agent token is not this cluster's");
}

TEST(AgentProof, TheRightTokenIsAskedForInEachHello) {
  StandbyServer server({}, {}, "hai_the_token_of_agents");
  const auto answer_to = [&](const std::string& metadata, const std::string& hello) {
    Speaker agent(server.grpc_address(), metadata);
    agent.say_hello(hello);
    return agent.end().error_code();
  };
  const std::string right = "hai_the_token_of_agents";
  EXPECT_EQ(answer_to(right, right), grpc::StatusCode::UNAVAILABLE) << "it does not lead";
  EXPECT_EQ(answer_to("", right), grpc::StatusCode::UNAVAILABLE) << "of an older version";
  EXPECT_EQ(answer_to(right, "hai_another_token"), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(answer_to("", "hai_another_token"), grpc::StatusCode::UNAUTHENTICATED);
}

TEST(AgentProof, OnlySoManyAreAwaitedThatHaveShownNothing) {
  const std::string right = "hai_the_token_of_agents";
  StandbyServer server({}, {}, right);
  std::vector<std::unique_ptr<Speaker>> strangers;
  for (int i = 0; i < AgentService::kStrangersMax + 1; ++i) {
    strangers.push_back(std::make_unique<Speaker>(server.grpc_address()));
  }
  // It may come before the server has seen all others.
  grpc::StatusCode late = grpc::StatusCode::OK;
  for (int i = 0; i < 10 && late != grpc::StatusCode::RESOURCE_EXHAUSTED; ++i) {
    late = Speaker(server.grpc_address(), "", std::chrono::seconds(1)).end().error_code();
  }
  EXPECT_EQ(late, grpc::StatusCode::RESOURCE_EXHAUSTED);
  // Who shows his token is not one of them.
  Speaker agent(server.grpc_address(), right);
  agent.say_hello(right);
  EXPECT_EQ(agent.end().error_code(), grpc::StatusCode::UNAVAILABLE) << "it does not lead";
  strangers.clear();
  grpc::Status status;
  for (int i = 0; i < 1'000 && status.error_code() != grpc::StatusCode::UNAVAILABLE; ++i) {
    Speaker again(server.grpc_address());
    again.say_hello(right);
    status = again.end();
  }
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE) << status.error_message();
}

}  // namespace
}  // namespace hai
