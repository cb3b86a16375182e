// Every call of the Api, asked of a server that does not lead, names the one that does. Calls come
// from the descriptor: one that is added is asked, too.

#include <google/protobuf/descriptor.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "hai/v1/api.pb.h"
#include "tests/support/standby_server.h"

namespace hai {
namespace {

struct Answer {
  grpc::Status status;
  std::string leader;
  std::string mode;
  bool has_message = false;
};

std::string value_of(const grpc::ClientContext& context, const char* key) {
  const auto& metadata = context.GetServerTrailingMetadata();
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
}

// An empty request, which is what each kind of request can be; unary or streaming, as if the answer
// were a stream, which on the wire is the same.
Answer ask(grpc::GenericStub& stub, const std::string& method) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  context.AddMetadata("authorization", "Bearer hai_some_token");
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareCall(&context, method, &queue);
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  call->StartCall(nullptr);
  wait();
  const grpc::Slice nothing;
  call->WriteLast(grpc::ByteBuffer(&nothing, 1), grpc::WriteOptions(), nullptr);
  wait();
  Answer answer;
  grpc::ByteBuffer message;
  call->Read(&message, nullptr);
  answer.has_message = wait();
  call->Finish(&answer.status, nullptr);
  wait();
  answer.leader = value_of(context, "hai-leader");
  answer.mode = value_of(context, "hai-mode");
  return answer;
}

std::vector<std::string> all_methods() {
  const google::protobuf::ServiceDescriptor* service =
      google::protobuf::DescriptorPool::generated_pool()->FindServiceByName("hai.v1.Api");
  std::vector<std::string> methods;
  for (int i = 0; service != nullptr && i < service->method_count(); ++i) {
    methods.push_back("/hai.v1.Api/" + service->method(i)->name());
  }
  return methods;
}

class StandbyApi : public ::testing::Test {
 protected:
  void ask_all(const StandbyServer& server, const std::string& leader) {
    (void)v1::SubmitJobRequest::descriptor();  // the file of the service is linked
    const std::vector<std::string> methods = all_methods();
    ASSERT_GE(methods.size(), 29u);
    grpc::GenericStub stub(
        grpc::CreateChannel(server.grpc_address(), grpc::InsecureChannelCredentials()));
    for (const std::string& method : methods) {
      const Answer answer = ask(stub, method);
      EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::UNAVAILABLE) << method;
      EXPECT_EQ(answer.status.error_message(),
                "this server does not lead: another server leads, its lease ends in 900 ms; retry")
          << method;
      EXPECT_EQ(answer.leader, leader) << method;
      EXPECT_EQ(answer.mode, "standby") << method;
      EXPECT_FALSE(answer.has_message) << method;
    }
  }
};

TEST_F(StandbyApi, EveryCallNamesTheLeader) {
  StandbyServer server({.grpc = "10.0.0.1:7700", .http = "10.0.0.1:7780"});
  ask_all(server, "10.0.0.1:7700");
}

TEST_F(StandbyApi, EveryCallIsRefusedWhenNobodySaysWhereTheLeaderIs) {
  StandbyServer server({});
  ask_all(server, "");
}

}  // namespace
}  // namespace hai
