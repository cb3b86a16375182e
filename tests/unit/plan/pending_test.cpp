// Each waiting job has one reason, and it is true.

#include "tests/unit/plan/plan_matchers.h"

namespace hai::test {
namespace {

TEST(Pending, OneNodeInTheSingular) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.run(job("runs"), {"node-1"});
  JobId id = c.submit(job("j").gpus(1));
  EXPECT_EQ(pending_text(c.plan(), id),
            "needs 1 node with 1 free GPU in training; 0 of 1 open node can give that now");
}

TEST(Pending, NamesTheZoneAskedFor) {
  Cluster c = cluster(nodes(1, gpus(8)), nodes(1, gpus(8)).zone("B"));
  c.run(job("runs"), {"node-1"});
  JobId id = c.submit(job("j").zone("A"));
  EXPECT_EQ(pending_text(c.plan(), id),
            "needs 1 whole node in training#A; 0 of 1 open node can give that now");
}

TEST(Pending, CountsOpenNodesOnly) {
  Cluster c = cluster(nodes(4, gpus(8)));
  c.set_liveness("node-1", Liveness::suspect).set_liveness("node-2", Liveness::down);
  c.set_scheduling("node-3", Scheduling::cordoned);
  JobId id = c.submit(job("j").nodes(2));
  EXPECT_EQ(pending_text(c.plan(), id),
            "needs 2 whole nodes in training; 1 of 1 open node can give that now");
}

TEST(Pending, SaysWhenEnoughNodesAreFreeButNotInOneZone) {
  Cluster c = cluster(nodes(3, gpus(8)), nodes(3, gpus(8)).zone("B"));
  c.run(job("a"), {"node-1"});
  c.run(job("b"), {"node-4"});
  JobId id = c.submit(job("j").nodes(3));
  EXPECT_EQ(pending_text(c.plan(), id),
            "needs 3 whole nodes in training; 4 of 6 open nodes can give that now, at most 2 in "
            "one zone");
}

TEST(Pending, SaysWhenItWaitsForATighterFit) {
  Cluster c = cluster(nodes(2, gpus(8)), nodes(2, gpus(8)).leaf("leaf-2"));
  c.run(job("a"), {"node-1"});
  c.run(job("b"), {"node-3"});
  JobId id = c.submit(job("j").nodes(2).max_leaves(1));
  EXPECT_EQ(pending_text(c.plan(), id),
            "needs 2 whole nodes in training; 2 of 4 open nodes can give that now, but not within "
            "1 leaf");
}

TEST(Pending, CountsWhoMustLeave) {
  Cluster c = cluster(nodes(2, gpus(8)));
  c.run(job("a").priority(Priority::low), {"node-1"});
  c.run(job("b").priority(Priority::low), {"node-2"});
  JobId id = c.submit(job("j").nodes(2));
  const std::string text = "2 nodes are held for it; waits for 2 jobs to save and leave";
  EXPECT_EQ(pending_text(c.pass(), id), text);
  EXPECT_EQ(pending_text(c.pass(), id), text);
  c.leave(JobId{1});
  EXPECT_EQ(pending_text(c.plan(), id),
            "2 nodes are held for it; waits for 1 job to save and leave");
}

}  // namespace
}  // namespace hai::test
