#include "agent/fleet/fleet_control.h"

#include <gtest/gtest.h>

#include "sim/virtual_loop.h"

namespace hai {
namespace {

class FleetControlTest : public ::testing::Test {
 protected:
  std::string tell(const std::string& line) { return control_.execute(line); }

  static AgentConfig config() {
    AgentConfig config;
    config.servers = {"127.0.0.1:1"};
    return config;
  }
  Timeline timeline_;
  VirtualLoop loop_{timeline_};
  // Never started: no node connects anywhere.
  Fleet fleet_{loop_, config(), "token", {.nodes = 100}, 1};
  FleetControl control_{loop_, fleet_};
};

TEST_F(FleetControlTest, ChoosesNodesInManyWays) {
  EXPECT_EQ(tell("silence all"), "ok 100 nodes");
  EXPECT_EQ(tell("silence zone:B"), "ok 40 nodes");
  EXPECT_EQ(tell("silence leaf:leaf-5"), "ok 20 nodes");
  EXPECT_EQ(tell("silence random:7"), "ok 7 nodes");
  EXPECT_EQ(tell("silence node-[0001-0003],node-0100"), "ok 4 nodes");
  EXPECT_EQ(tell("silence node-0001"), "ok 1 node");
}

TEST_F(FleetControlTest, CountsWhatIsWrong) {
  tell("silence node-0001");
  tell("slow-launch node-[0001-0002] 5s");
  tell("fail-launch node-[0001-0003] broken disk");
  EXPECT_EQ(tell("status"), "ok nodes=100 dead=100 silent=1 slow=2 failing=3 faulty=0 ranks=0");
  EXPECT_EQ(fleet_.nodes()[0]->launch_habit().failure, "broken disk");
  EXPECT_EQ(fleet_.nodes()[0]->launch_habit().delay, 5s);
}

TEST_F(FleetControlTest, ChecksFailUntilTheyAreMended) {
  EXPECT_EQ(tell("fault node-0001 gpu_xid evict 79: fallen off the bus"), "ok 1 node");
  EXPECT_EQ(tell("fault node-[0001-0002] disk_error drain"), "ok 2 nodes");
  EXPECT_EQ(tell("fault node-0001 gpu_xid evict again"), "ok 1 node");
  FleetFaults& faults = fleet_.nodes()[0]->faults();
  ASSERT_EQ(faults.results().size(), 2u);
  EXPECT_EQ(faults.results()[0].name, "disk_error");
  EXPECT_EQ(faults.results()[1].summary, "again; remedy: none: this node is pretended");
  EXPECT_EQ(faults.results()[1].tier, HealthTier::evict);
  EXPECT_NE(tell("status").find("faulty=2"), std::string::npos);
  faults.clear("gpu_xid", UnixTime{} - 1us);
  EXPECT_EQ(faults.results().size(), 2u) << "it was seen after that word";
  faults.clear("gpu_xid", loop_.wall_now());
  EXPECT_EQ(faults.results().size(), 1u);
  EXPECT_EQ(tell("mend node-0002"), "ok 1 node");
  EXPECT_NE(tell("status").find("faulty=1"), std::string::npos);
  tell("restore node-0001");
  EXPECT_NE(tell("status").find("faulty=0"), std::string::npos);
}

TEST_F(FleetControlTest, WhatIsNotUnderstoodChangesNothing) {
  const auto is_error = [this](const std::string& line) {
    return tell(line).starts_with("error ");
  };
  for (const char* line : {"silence",
                           "silence node-0000",
                           "silence node-0001,node-0101",
                           "silence zone:C",
                           "silence leaf:",
                           "silence random:",
                           "silence random:0",
                           "silence random:x",
                           "silence all all",
                           "silence ''",
                           "slow-launch all",
                           "slow-launch all soon",
                           "slow-launch all 5s 6s",
                           "explode all",
                           "fault all",
                           "fault all gpu_xid",
                           "fault all gpu_xid soon",
                           "fault all headache drain",
                           "mend",
                           "mend all all",
                           "silence 'all",
                           "fail-launch"}) {
    EXPECT_TRUE(is_error(line)) << line << ": " << tell(line);
  }
  EXPECT_EQ(tell("status"), "ok nodes=100 dead=100 silent=0 slow=0 failing=0 faulty=0 ranks=0");
  EXPECT_EQ(tell("silence node-0101"), "error no node node-0101 in this fleet");
}

TEST_F(FleetControlTest, AFleetHasTheShapeThatOthersExpect) {
  const NodeFacts& last = fleet_.nodes().back()->facts();
  EXPECT_EQ(last.name, numbered_node_name("node", 99, 100));
  EXPECT_EQ((FabricPlace{last.zone, last.leaf}), (FabricPlace{"B", "leaf-5"}));
}

}  // namespace
}  // namespace hai
