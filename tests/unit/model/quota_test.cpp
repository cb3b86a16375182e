// Which quota row counts, and how much of it jobs use.

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace hai::test {
namespace {

std::optional<int64_t> quota_of(const Cluster& c, const std::string& user,
                                const std::string& group = "training") {
  return c.state().quota_nodes(*c.state().find_user(user), group, Priority::normal);
}

TEST(Quota, OfNobodyIsNone) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.clear_quotas().add_user("bob");
  EXPECT_EQ(quota_of(c, "bob"), std::nullopt);
}

TEST(Quota, FallsBackToPublic) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.clear_quotas().add_user("bob", {"vision"}).set_quota("public", "training", Priority::normal, 3);
  EXPECT_EQ(quota_of(c, "bob"), 3);
}

TEST(Quota, OfTheBestGroupBeatsPublic) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.clear_quotas().add_user("bob", {"vision", "language"}).add_user("eve", {"language", "vision"});
  c.set_quota("public", "training", Priority::normal, 30);
  c.set_quota("vision", "training", Priority::normal, 5);
  c.set_quota("language", "training", Priority::normal, 7);
  EXPECT_EQ(quota_of(c, "bob"), 7);
  EXPECT_EQ(quota_of(c, "eve"), 7) << "in whatever order the groups are";
}

TEST(Quota, OfHisOwnBeatsEverythingEvenIfSmaller) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.clear_quotas().add_user("bob", {"vision"});
  c.set_quota("public", "training", Priority::normal, 30);
  c.set_quota("vision", "training", Priority::normal, 20);
  c.set_quota("bob", "training", Priority::normal, 0);
  EXPECT_EQ(quota_of(c, "bob"), 0);
}

TEST(Quota, StarStandsForGroupsWithoutARowOfTheirOwn) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.clear_quotas().add_user("bob");
  c.set_quota("bob", "*", Priority::normal, 9).set_quota("bob", "training", Priority::normal, 2);
  EXPECT_EQ(quota_of(c, "bob"), 2);
  EXPECT_EQ(quota_of(c, "bob", "dev"), 9);
}

TEST(Quota, CountsPerLevel) {
  Cluster c = cluster(nodes(1, gpus(8)));
  c.clear_quotas().add_user("bob").set_quota("bob", "training", Priority::high, 4);
  EXPECT_EQ(quota_of(c, "bob"), std::nullopt);
}

TEST(QuotaUnits, ShareNodesInProportion) {
  EXPECT_EQ(ClusterState::node_units(3, 0, 8), 3000);
  EXPECT_EQ(ClusterState::node_units(3, 8, 8), 3000);
  EXPECT_EQ(ClusterState::node_units(3, 4, 8), 1500);
  EXPECT_EQ(ClusterState::node_units(1, 1, 8), 125);
  EXPECT_EQ(ClusterState::node_units(2, 1, 0), 2000);  // a node without GPUs is never shared
}

TEST(QuotaUsage, FollowsLiveAttempts) {
  Cluster c = cluster(nodes(3, gpus(8)));
  JobId whole = c.run(job("whole").nodes(2), {"node-1", "node-2"});
  JobId share = c.run(job("share").gpus(2), {"node-3"}, GpuSet::first(2));
  EXPECT_EQ(c.state().used_node_units("ann", "training", Priority::normal), 2250);
  c.leave(whole);
  EXPECT_EQ(c.state().used_node_units("ann", "training", Priority::normal), 250);
  c.finish(share);
  EXPECT_EQ(c.state().used_node_units("ann", "training", Priority::normal), 0);
}

TEST(QuotaUsage, KeepsTheLevelTheAttemptWasPlacedAt) {
  Cluster c = cluster(nodes(1, gpus(8)));
  JobId id = c.run(job("j").priority(Priority::high), {"node-1"});
  c.emit(JobPriorityChanged{id, Priority::low});
  EXPECT_EQ(c.state().used_node_units("ann", "training", Priority::high), 1000);
  EXPECT_EQ(c.state().used_node_units("ann", "training", Priority::low), 0);
  c.leave(id);
  EXPECT_EQ(c.state().used_node_units("ann", "training", Priority::high), 0);
}

}  // namespace
}  // namespace hai::test
