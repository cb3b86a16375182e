// Ways into ranks as both sides see them: a person's stream and the agent's, over loopback, with a
// real server between them.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "hai/v1/api.grpc.pb.h"
#include "hai/v1/shell.grpc.pb.h"
#include "server/auth/token.h"
#include "tests/support/live_server.h"

namespace hai {
namespace {

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
    v1::SubmitJobRequest request;
    v1::JobSpec& spec = *request.mutable_spec();
    spec.set_name("train");
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
    EXPECT_TRUE(v1::Api::NewStub(channel_)->SubmitJob(&context, request, &reply).ok());
    return reply.job_id();
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
    for (int tries = 0; tries < 1'000 && found.empty(); ++tries) {
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

v1::ShellMessage started() {
  v1::ShellMessage message;
  message.mutable_started()->set_node("not mine to say");
  return message;
}
v1::ShellMessage input(const std::string& bytes) {
  v1::ShellMessage message;
  message.set_input(bytes);
  return message;
}
v1::ShellMessage output(const std::string& bytes) {
  v1::ShellMessage message;
  message.set_output(bytes);
  return message;
}
v1::ShellMessage ended(int code, const std::string& error = "") {
  v1::ShellMessage message;
  message.mutable_end()->set_exit_code(code);
  message.mutable_end()->set_error(error);
  return message;
}

TEST_F(ShellsOfServer, CarryWhatEachSaysToTheOther) {
  const auto ann = person();
  ann->say(opening("train"));
  const auto node = agent(ticket());
  const ShellRequest asked = server_.asked_shells().back();
  EXPECT_EQ(asked.key, (RankKey{JobId{job_}, 1, 0}));
  EXPECT_EQ(asked.program.argv, std::vector<std::string>{"cat"});
  node->say(started());
  const v1::ShellMessage first = ann->hear();
  EXPECT_EQ(first.started().node(), "n1") << "the server knows better";
  EXPECT_EQ(first.started().job(), job_);
  for (const std::string& word : {std::string("one"), std::string("two\0", 4)}) {
    ann->say(input(word));
    EXPECT_EQ(node->hear().input(), word);
    node->say(output(word));
    EXPECT_EQ(ann->hear().output(), word);
  }
  node->say(ended(3));
  EXPECT_EQ(ann->hear().end().exit_code(), 3);
  EXPECT_TRUE(ann->end().ok());
  EXPECT_TRUE(node->end().ok());
}

TEST_F(ShellsOfServer, TellWhyThereIsNone) {
  const auto ann = person();
  ann->say(opening("train"));
  const auto node = agent(ticket());
  node->say(ended(126, "no such program"));
  const grpc::Status status = ann->end();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(status.error_message(), "no such program");
}

TEST_F(ShellsOfServer, EndWithEitherSide) {
  const auto ann = person();
  ann->say(opening("train"));
  const auto node = agent(ticket());
  node->say(started());
  ann->hear();
  node->leave();
  const grpc::Status status = ann->end();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_NE(status.error_message().find("node n1 is lost, and the shell with it"),
            std::string::npos);

  const auto bob = person();
  bob->say(opening("train"));
  const auto again = agent(ticket(2));
  again->say(started());
  bob->hear();
  bob->leave();
  EXPECT_EQ(again->end().error_code(), grpc::StatusCode::CANCELLED);
}

TEST_F(ShellsOfServer, AreForTheAgentThatWasAskedAndNobodyElse) {
  EXPECT_EQ(agent("")->end().error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(agent("hai_guessed")->end().error_code(), grpc::StatusCode::NOT_FOUND);
  const auto ann = person();
  ann->say(opening("train"));
  const std::string asked = ticket();
  EXPECT_EQ(agent(asked, "hai_other_secret")->end().error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  const auto node = agent(asked);
  node->say(started());
  ann->hear();
  EXPECT_EQ(agent(asked)->end().error_code(), grpc::StatusCode::NOT_FOUND) << "a second one";
  node->say(ended(0));
  ann->hear();
  ann->end();
  EXPECT_EQ(agent(asked)->end().error_code(), grpc::StatusCode::NOT_FOUND) << "too late";
}

TEST_F(ShellsOfServer, RefuseWhoMayNotAndWhatIsNot) {
  EXPECT_EQ(refusal("train", 0, "").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(refusal("train", 0, "hai_nobody").error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(refusal("train", 0, LiveServer::kAgentToken).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(refusal("nothing", 0, LiveServer::kAdminToken).error_code(),
            grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(refusal("train", 1, LiveServer::kAdminToken).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(refusal("train", -1, LiveServer::kAdminToken).error_code(),
            grpc::StatusCode::NOT_FOUND);
  const auto odd = person();
  odd->say(input("before anything was opened"));
  EXPECT_EQ(odd->end().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  server_.finish_job(job_, 0);
  EXPECT_TRUE(server_.eventually([this](Controller& controller) {
    return controller.state().find(JobId{job_})->is_terminal();
  }));
  const grpc::Status over = refusal(std::to_string(job_), 0, LiveServer::kAdminToken);
  EXPECT_EQ(over.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_NE(over.error_message().find("is succeeded"), std::string::npos);
  EXPECT_TRUE(server_.asked_shells().empty());
}

TEST_F(ShellsOfServer, TakeWhatIsSaidOutOfTurn) {
  const auto ann = person();
  ann->say(opening("train"));
  const auto node = agent(ticket());
  node->say(v1::ShellMessage{});  // of an agent that only wants to know whether we are there
  node->say(opening("train"));    // not an agent's to say
  node->say(started());
  EXPECT_TRUE(ann->hear().has_started());
  ann->say(opening("train"));  // once is enough
  ann->say(output("not a person's to say"));
  ann->say(input("typed"));
  EXPECT_EQ(node->hear().input(), "typed");
}

}  // namespace
}  // namespace hai
