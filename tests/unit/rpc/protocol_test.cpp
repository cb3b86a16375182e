// Which version of the protocol an agent and a server agree on, and what each says without one.

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <optional>

#include "agent/rpc/server_stream.h"
#include "hai/v1/agent.grpc.pb.h"
#include "proto/convert/grpc_locks.h"
#include "server/rpc/agent_gateway.h"
#include "tests/unit/rpc/run_until.h"

namespace hai {
namespace {

// The server's end of a stream: keeps what the gateway has decided.
class DecidedStream final : public AgentStream {
 public:
  void accept(int version) override { protocol = version; }
  void send(const AgentOrder&, PlacesCodec&) override {}
  void send(int64_t, const LogRequest&) override {}
  void send(const ShellRequest&) override {}
  void name_servers(const std::vector<std::string>&) override {}
  void close(const Status& why) override { refusal = why; }

  std::optional<int> protocol;
  Status refusal;
};

// What a server that speaks 3 to 5 decides about an agent of node n1.
std::shared_ptr<DecidedStream> decision_about(ProtocolRange of_agent) {
  AgentGateway gateway(ProtocolRange{.oldest = 3, .newest = 5});
  gateway.set_events({.admit = [](const AgentHello&) { return ok(); },
                      .connected = [](ConnectionId, const AgentHello&) {},
                      .disconnected = [](ConnectionId) {}});
  auto stream = std::make_shared<DecidedStream>();
  const AgentStream::Events events = gateway.opened(stream);
  events.hello({.protocols = of_agent, .node = "n1"});
  events.done();
  return stream;
}

TEST(Protocol, TheHighestInCommonIsTaken) {
  EXPECT_EQ(decision_about({1, 3})->protocol, 3);
  EXPECT_EQ(decision_about({2, 4})->protocol, 4);
  EXPECT_EQ(decision_about({4, 9})->protocol, 5);
  EXPECT_EQ(decision_about({1, 9})->protocol, 5);
  EXPECT_EQ(decision_about({5, 5})->protocol, 5);
}

TEST(Protocol, AnAgentThatIsTooOldIsToUpgrade) {
  const auto stream = decision_about({1, 2});
  EXPECT_FALSE(stream->protocol);
  EXPECT_EQ(stream->refusal,
            failed_precondition("the agent of n1 speaks protocol 1 to 2, this server 3 to 5: "
                                "upgrade the package hai-agent on that node"));
}

TEST(Protocol, AnAgentThatIsTooNewWantsNewerServers) {
  const auto stream = decision_about({6, 6});
  EXPECT_FALSE(stream->protocol);
  EXPECT_EQ(stream->refusal,
            failed_precondition("the agent of n1 speaks protocol 6, this server 3 to 5: "
                                "upgrade the package hai-server on the servers"));
}

// Accepts whoever comes, in this version of the protocol; "" = it names none.
class NamingServer final : public v1::AgentService::Service {
 public:
  explicit NamingServer(std::string protocol) : protocol_(std::move(protocol)) {
    leave_grpc_locks_unchecked();
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~NamingServer() override { server_->Shutdown(std::chrono::system_clock::now()); }
  std::string address() const { return fmt::format("127.0.0.1:{}", port_); }

  grpc::Status Connect(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::ServerMessage, v1::AgentMessage>* stream) override {
    v1::AgentMessage message;
    stream->Read(&message);
    if (!protocol_.empty()) context->AddInitialMetadata(kProtocolMetadata, protocol_);
    stream->SendInitialMetadata();
    while (stream->Read(&message)) {
    }
    return grpc::Status::OK;
  }

 private:
  const std::string protocol_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

// How the stream of an agent that speaks 3 to 5 ends at a server that names this version; ok = it
// is accepted.
Status end_at_server_that_names(const std::string& protocol) {
  AsioLoop loop;
  NamingServer server(protocol);
  bool is_accepted = false;
  std::optional<Status> end;
  const auto stream =
      ServerStream::open(loop,
                         {.server = server.address(),
                          .hello = {.protocols = {.oldest = 3, .newest = 5}, .node = "n1"},
                          .tls = {},
                          .keepalive = 5s,
                          .codec = std::make_shared<PlacesCodec>()},
                         {.accepted = [&] { is_accepted = true; },
                          .order = [](const AgentOrder&) {},
                          .read_log = [](int64_t, const LogRequest&) {},
                          .done = [&](const Status& status) { end = status; }});
  EXPECT_TRUE(run_until(loop, [&] { return is_accepted || end; }));
  if (!end) stream->close_and_wait();
  EXPECT_NE(is_accepted, end.has_value());
  return end.value_or(ok());
}

TEST(Protocol, AnAgentGoesOnInAVersionOfItsOwn) {
  EXPECT_EQ(end_at_server_that_names("3"), ok());
  EXPECT_EQ(end_at_server_that_names("5"), ok());
}

TEST(Protocol, AServerThatWantsANewerOneIsRefused) {
  EXPECT_EQ(end_at_server_that_names("6"),
            failed_precondition("the server speaks protocol 6, this agent 3 to 5: "
                                "upgrade the package hai-agent on this node"));
}

// One that names none is of before there was a choice.
TEST(Protocol, AServerThatWantsAnOlderOneIsRefused) {
  EXPECT_EQ(end_at_server_that_names("2"),
            failed_precondition("the server speaks protocol 2, this agent 3 to 5: "
                                "upgrade the package hai-server on the servers"));
  EXPECT_EQ(end_at_server_that_names(""),
            failed_precondition("the server speaks protocol 1, this agent 3 to 5: "
                                "upgrade the package hai-server on the servers"));
}

}  // namespace
}  // namespace hai
