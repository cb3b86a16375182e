// Clusters of a replay: NxG, node lists and topologies.

#include "sim/trace/cluster_file.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/unit/sim/temp_file.h"

namespace hai::test {
namespace {

std::string error_of(const std::string& text) {
  TempFile file(text);
  auto cluster = read_cluster(file.path());
  return cluster.is_ok() ? "ok" : file.shown(cluster.status().message());
}

TEST(ClusterFile, UniformHasTwoZonesAndLeavesOfTwenty) {
  TraceCluster cluster = read_cluster("50x8").value();
  EXPECT_EQ(cluster.gpus(), 400);
  EXPECT_EQ(cluster.most_nodes_together, 50);
  std::map<std::string, int> leaves;
  for (const NodeFacts& node : cluster.nodes) ++leaves[node.zone + ":" + node.leaf];
  EXPECT_THAT(leaves, ::testing::ElementsAre(std::pair("A:A1", 20), std::pair("A:A2", 5),
                                             std::pair("B:B1", 20), std::pair("B:B2", 5)));
}

TEST(ClusterFile, UniformHasLimits) {
  EXPECT_EQ(read_cluster("0x8").status().message(), "--cluster: must have 1..100000 nodes, has 0");
  EXPECT_EQ(read_cluster("4x65").status().message(),
            "--cluster: must have 1..64 GPUs per node, has 65");
  EXPECT_EQ(read_cluster("4by8").status().message(),
            "4by8: can't be opened: No such file or directory");
}

TEST(ClusterFile, ReadsNodes) {
  TempFile file("gpus,node,zone,leaf,group\n4,n2,B,L2,h800\n4,n1,A,L1,h800\n4,n3,C,L3,h800\n");
  TraceCluster cluster = read_cluster(file.path()).value();
  EXPECT_EQ(cluster.gpus_per_node, 4);
  EXPECT_EQ(cluster.group(), "h800");
  EXPECT_EQ(cluster.nodes.front().name, "n1");
  EXPECT_EQ(cluster.most_nodes_together, 2);  // Only one pair of ranks may cross.
}

TEST(ClusterFile, ReadsATopology) {
  TempFile file("ip,DSW,PSW,ASW\naa,G6,P10,S14\nbb,G6,P10,S2\ncc,G7,P11,S2\n");
  TraceCluster cluster = read_cluster(file.path()).value();
  ASSERT_EQ(cluster.nodes.size(), 3u);
  EXPECT_EQ(cluster.nodes[0].zone, "G6");
  EXPECT_EQ(cluster.nodes[0].leaf, "P10/S14");
  EXPECT_EQ(cluster.gpus_per_node, 8);
}

TEST(ClusterFile, SaysWhereItIsBroken) {
  const std::string header = "node,group,zone,leaf,gpus\n";
  EXPECT_EQ(error_of(header), "FILE: there is no node in it");
  EXPECT_EQ(error_of("name,group\n"),
            "FILE:1: unknown column 'name', known are: node, group, zone, leaf, gpus");
  EXPECT_EQ(error_of(header + "a,g,A,L1,8\na,g,A,L1,8\n"), "FILE:3: node a is there twice");
  EXPECT_EQ(error_of(header + "a,g,A,L1,8\nb,g,B,L1,8\n"),
            "FILE:3: leaf L1 is in zone B here and in zone A above");
  EXPECT_EQ(error_of(header + "a,g,A,L1,8\nb,g,A,L1,4\n"),
            "FILE:3: node b: 4 GPUs in group g, but the first node has 8 in group g; a trace is "
            "replayed on nodes that are alike");
  EXPECT_EQ(error_of(header + "a,g,A,L1,0\n"), "FILE:2: gpus: must be 1..64, is '0'");
  EXPECT_EQ(error_of(header + "a,g,,L1,8\n"), "FILE:2: node a: zone and leaf must not be empty");
  EXPECT_EQ(error_of("ip,DSW,PSW,ASW\na,G1,P1,S1\nb,G2,P1,S1\n"),
            "FILE:3: leaf P1/S1 is in zone G2 here and in zone G1 above");
}

}  // namespace
}  // namespace hai::test
