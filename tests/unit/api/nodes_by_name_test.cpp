#include "server/api/nodes_by_name.h"

#include <gmock/gmock.h>

#include "server/model/event.h"
#include "tests/support/builders.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What a removed node has done can still be asked for, also when another bears its name now.
TEST(NodesByName, RemovedOnesAreFoundBesideTheirSuccessors) {
  Cluster c = cluster(nodes(2, gpus(8)));
  const NodeId old = c.node_id("node-1");
  const NodeFacts facts = c.node("node-1").facts;
  c.set_liveness("node-1", Liveness::down);
  c.emit(NodeRemoved{old, "sold"});
  EXPECT_THAT(nodes_ever_called(c.state(), {"node-1"}).value(), ElementsAre(old));
  c.emit(NodeRegistered{NodeId{3}, facts});
  EXPECT_THAT(nodes_ever_called(c.state(), {"node-1", "node-1"}).value(),
              ElementsAre(old, NodeId{3}));
}

TEST(NodesByName, TheErrorNamesThoseThatNobodyBore) {
  const Cluster c = cluster(nodes(2, gpus(8)));
  const Status said = nodes_ever_called(c.state(), {"node-2", "node-8", "node-9"}).status();
  EXPECT_EQ(said.code(), Code::not_found);
  EXPECT_THAT(std::string(said.message()), HasSubstr("nodes node-[8-9] do not exist"));
}

}  // namespace
}  // namespace hai::test
