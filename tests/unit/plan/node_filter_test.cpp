// Jobs that ask for some of a group's nodes only: by GPU type, label and name.

#include "server/plan/blocking.h"
#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// node-1 and node-2 have H800s, node-3 and node-4 A100s and fast disks.
Cluster two_types() {
  return cluster(nodes(2, gpus(8)).gpu_model("NVIDIA H800"),
                 nodes(2, gpus(8)).gpu_model("NVIDIA A100-SXM4-80GB").label("fast-disk"));
}

TEST(NodeFilterPlan, StartsOnlyOnSuchNodes) {
  Cluster c = two_types();
  c.submit(job("type").gpu_type("a100").gpus(4));
  c.submit(job("label").label("fast-disk").not_on("node-3").gpus(4));
  c.submit(job("name").only_on("node-[2,9]").gpus(4));
  c.submit(job("gang").gpu_type("h800").nodes(2).gpus(4));
  EXPECT_THAT(starts(c, c.pass()),
              ElementsAre("type: node-3[0,1,2,3]", "label: node-4[0,1,2,3]",
                          "name: node-2[0,1,2,3]", "gang: node-1[0,1,2,3],node-2[4,5,6,7]"));
}

TEST(NodeFilterPlan, WaitsThoughOtherNodesAreFree) {
  Cluster c = two_types();
  c.run(job("runs").priority(Priority::high), {"node-1"});
  c.run(job("too").priority(Priority::high), {"node-2"});
  const JobId id = c.submit(job("j").gpu_type("h800").gpus(1));
  EXPECT_TRUE(c.pass().starts.empty());
  EXPECT_EQ(pending_text(c.plan(), id),
            "needs 1 node with 1 free GPU in training (GPU type h800); 0 of 2 open nodes can give "
            "that now");
}

TEST(NodeFilterPlan, InterruptsNobodyWhereItCannotRun) {
  Cluster c = two_types();
  const JobId cheap = c.run(job("cheap").priority(Priority::low), {"node-3"});
  c.run(job("fast").priority(Priority::low), {"node-4"});
  const JobId dear = c.run(job("dear").priority(Priority::low), {"node-1"});
  c.run(job("top").priority(Priority::extreme_high), {"node-2"});
  c.advance(10min);
  c.checkpoint(cheap, 1s);
  const JobId id = c.submit(job("j").gpu_type("h800").priority(Priority::high));
  c.pass();
  EXPECT_EQ(c.attempt(dear).state, AttemptState::suspending);
  EXPECT_EQ(c.attempt(cheap).state, AttemptState::running);
  ASSERT_TRUE(c.job(id).reservation.has_value());
  EXPECT_EQ(c.job(id).reservation->placement, c.on({"node-1"}));
}

TEST(NodeFilterPlan, OfJobsThatDifferInNothingElseEachKeepsItsOwn) {
  Cluster c = two_types();
  c.submit(job("a").only_on("node-2").gpus(1));
  c.submit(job("b").only_on("node-4").gpus(1));
  c.submit(job("c").gpus(1).only_on("node-3"));
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("a: node-2[0]", "b: node-4[0]", "c: node-3[0]"));
}

TEST(NodeFilterPlan, FollowsANodeWhoseLabelsChange) {
  Cluster c = two_types();
  const JobId id = c.submit(job("j").label("new"));
  EXPECT_TRUE(c.pass().starts.empty());
  NodeFacts facts = c.node("node-2").facts;
  facts.labels = {"new"};
  c.emit(NodeRegistered{.node = c.node_id("node-2"), .facts = facts});
  EXPECT_THAT(starts(c, c.pass()), ElementsAre("j: node-2"));
  EXPECT_TRUE(c.job(id).has_live_attempt());
}

TEST(NodeFilterPlan, IsExplained) {
  Cluster c = two_types();
  c.run(job("runs").priority(Priority::high), {"node-1"});
  const JobId id = c.submit(job("j").only_on("node-1"));
  c.pass();
  EXPECT_THAT(pending_text(c.plan(), id), HasSubstr("in training (only node-1)"));
}

}  // namespace
}  // namespace hai::test
