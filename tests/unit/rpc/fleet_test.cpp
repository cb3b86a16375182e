// Many agents at once against one server: what scale tests stand on.

#include "agent/fleet/fleet.h"

#include <gtest/gtest.h>

#include <thread>

#include "server/auth/token.h"
#include "tests/support/live_server.h"

namespace hai {
namespace {

class FleetTest : public ::testing::Test {
 protected:
  static constexpr int kNodes = 60;

  FleetTest() {
    AgentConfig config;
    config.name = "f";
    config.servers = {server_.grpc_address()};
    fleet_ =
        std::make_unique<Fleet>(loop_, config, LiveServer::kAgentToken,
                                FleetOptions{.nodes = kNodes, .shape = FabricShape::one_zone}, 1);
    fleet_->start();
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~FleetTest() override {
    loop_.stop();
    thread_.join();
    fleet_.reset();
  }

  void submit(const std::string& name, const std::string& parameters) {
    JobSpec spec{.name = name, .workspace = "/data", .entrypoint = "sleep"};
    spec.parameters = parameters;
    spec.node_count = kNodes;
    spec.cross_zone = CrossZone::never;
    server_.on_loop([&] {
      controller().submit({.trusted_user = LiveServer::kAdmin}, SubmitJob{spec, ""},
                          [](Result<CommandReply> reply) {
                            EXPECT_TRUE(reply.is_ok()) << reply.status().message();
                          });
    });
  }
  Controller& controller() { return server_.controller(); }
  bool reaches(JobId id, JobState state) {
    return server_.eventually([id, state](Controller& controller) {
      const Job* job = controller.state().find(id);
      return job != nullptr && job->state == state;
    });
  }

  LiveServer server_;
  AsioLoop loop_;
  std::unique_ptr<Fleet> fleet_;
  std::thread thread_;
};

TEST_F(FleetTest, AllRegisterAndRunAGangToItsEnd) {
  ASSERT_TRUE(server_.eventually([](Controller& controller) {
    return controller.state().nodes().size() == kNodes + 1;  // and the server's own n1
  }));
  const Node* last = nullptr;
  server_.on_loop([&] { last = controller().state().find_node("f-0060"); });
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->facts.leaf, "leaf-3");

  submit("gang", "60");
  ASSERT_TRUE(reaches(JobId{1}, JobState::running));
  server_.on_loop([&] {
    controller().submit({.trusted_user = LiveServer::kAdmin}, SuspendJob{"gang", ""},
                        [](Result<CommandReply> reply) { EXPECT_TRUE(reply.is_ok()); });
  });
  ASSERT_TRUE(reaches(JobId{1}, JobState::suspended));

  submit("short", "0");
  EXPECT_TRUE(reaches(JobId{2}, JobState::succeeded));
}

}  // namespace
}  // namespace hai
