#pragma once
// A job that runs on a server with one agent, and both sides of a way into it.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "hai/v1/api.grpc.pb.h"
#include "hai/v1/shell.grpc.pb.h"
#include "tests/support/live_server.h"

namespace hai {

using Stream = grpc::ClientReaderWriter<v1::ShellMessage, v1::ShellMessage>;

// One side of a way, call by call.
class Side {
 public:
  explicit Side(const std::string& token) {
    context_.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
  }
  ~Side() { leave(); }

  grpc::ClientContext& context() { return context_; }
  void begin(std::unique_ptr<Stream> stream) { stream_ = std::move(stream); }
  bool say(const v1::ShellMessage& message) { return stream_->Write(message); }
  v1::ShellMessage hear() {
    v1::ShellMessage message;
    EXPECT_TRUE(stream_->Read(&message)) << "it has ended";
    return message;
  }
  grpc::Status end() {
    v1::ShellMessage ignored;
    while (stream_->Read(&ignored)) continue;
    return std::exchange(stream_, nullptr)->Finish();
  }
  void leave() {
    if (!stream_) return;
    context_.TryCancel();
    end();
  }

 private:
  grpc::ClientContext context_;
  std::unique_ptr<Stream> stream_;
};

class ShellsOfServer : public ::testing::Test {
 protected:
  ShellsOfServer() : job_(submit()) {
    EXPECT_TRUE(server_.eventually([this](Controller& controller) {
      const Job* job = controller.state().find(JobId{job_});
      return job != nullptr && job->state == JobState::running;
    }));
  }

  int64_t submit() {
    const auto [status, job] = submit_in("train", "");
    EXPECT_TRUE(status.ok()) << status.error_message();
    return job;
  }

  std::pair<grpc::Status, int64_t> submit_in(const std::string& name, const std::string& image) {
    v1::SubmitJobRequest request;
    v1::JobSpec& spec = *request.mutable_spec();
    spec.set_name(name);
    spec.set_image(image);
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
    grpc::ClientContext context;
    context.AddMetadata("authorization", std::string("Bearer ") + LiveServer::kAdminToken);
    v1::SubmitJobReply reply;
    const grpc::Status status = v1::Api::NewStub(channel_)->SubmitJob(&context, request, &reply);
    return {status, reply.job_id()};
  }

  std::unique_ptr<Side> person(const std::string& token = LiveServer::kAdminToken) {
    auto side = std::make_unique<Side>(token);
    side->begin(people_->Open(&side->context()));
    return side;
  }
  static v1::ShellMessage opening(const std::string& job, int rank = 0) {
    v1::ShellMessage message;
    message.mutable_open()->set_job(job);
    message.mutable_open()->set_rank(rank);
    message.mutable_open()->mutable_program()->add_argv("cat");
    return message;
  }
  std::unique_ptr<Side> agent(const std::string& ticket,
                              const std::string& token = LiveServer::kAgentToken) {
    auto side = std::make_unique<Side>(token);
    side->context().AddMetadata(kShellTicketKey, ticket);
    side->begin(agents_->Join(&side->context()));
    return side;
  }
  // That the agent was asked for the `number`th time; its last ticket.
  std::string ticket(size_t number = 1) {
    std::string found;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (found.empty() && std::chrono::steady_clock::now() < deadline) {
      const std::vector<ShellRequest> asked = server_.asked_shells();
      if (asked.size() >= number) found = asked.back().ticket;
      if (found.empty()) std::this_thread::yield();
    }
    EXPECT_NE(found, "") << "the agent was not asked";
    return found;
  }
  grpc::Status refusal(const std::string& job, int rank, const std::string& token) {
    const auto side = person(token);
    side->say(opening(job, rank));
    return side->end();
  }

  LiveServer server_;
  std::shared_ptr<grpc::Channel> channel_ =
      grpc::CreateChannel(server_.grpc_address(), grpc::InsecureChannelCredentials());
  std::unique_ptr<v1::Shells::Stub> people_ = v1::Shells::NewStub(channel_);
  std::unique_ptr<v1::NodeShells::Stub> agents_ = v1::NodeShells::NewStub(channel_);
  const int64_t job_;
};

inline v1::ShellMessage started() {
  v1::ShellMessage message;
  message.mutable_started()->set_node("not mine to say");
  return message;
}
inline v1::ShellMessage input(const std::string& bytes) {
  v1::ShellMessage message;
  message.set_input(bytes);
  return message;
}
inline v1::ShellMessage output(const std::string& bytes) {
  v1::ShellMessage message;
  message.set_output(bytes);
  return message;
}
inline v1::ShellMessage ended(int code, const std::string& error = "") {
  v1::ShellMessage message;
  message.mutable_end()->set_exit_code(code);
  message.mutable_end()->set_error(error);
  return message;
}

}  // namespace hai
