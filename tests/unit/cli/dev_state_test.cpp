#include <gtest/gtest.h>

#include "cli/dev/cluster_state.h"
#include "cli/dev/configs.h"
#include "cli/dev/targets.h"
#include "cli/dev/topology.h"
#include "common/config/yaml_tree.h"

namespace hai::cli {
namespace {

DevCluster small_cluster() {
  return {.name = "dev",
          .grpc_port = 20001,
          .http_port = 20002,
          .admin = "ann",
          .postgres_data = "/d/postgres/data",
          .postgres_socket = "/d/postgres/socket",
          .postgres_user = "postgres",
          .nodes = default_topology(2, 8)};
}

TEST(DevState, RoundTripsThroughJson) {
  const Result<DevCluster> back = parse_cluster(format_cluster(small_cluster()));
  ASSERT_TRUE(back.is_ok()) << back.status().message();
  EXPECT_EQ(back.value(), small_cluster());
  EXPECT_EQ(parse_cluster("{}").status().code(), Code::failed_precondition);
}

TEST(DevState, TlsIsKeptAndAClusterThatSaysNothingOfItHasNone) {
  DevCluster cluster = small_cluster();
  cluster.is_secure = true;
  EXPECT_EQ(parse_cluster(format_cluster(cluster)).value(), cluster);
  EXPECT_EQ(cluster.http(), "https://127.0.0.1:20002");
  std::string older = format_cluster(cluster);
  older.replace(older.find("\"tls\": true"), 11, "\"was\": true");
  EXPECT_FALSE(parse_cluster(older).value().is_secure);
}

TEST(DevState, EachProcessShowsItsOwnPair) {
  DevCluster cluster = small_cluster();
  const ClusterFiles files{"/d"};
  const auto pair = [](const std::string& config, const char* ca) {
    YamlNode root;
    EXPECT_FALSE(parse_yaml(config, &root).has_value()) << config;
    const auto* tls = root.find("tls");
    if (tls == nullptr) return std::string("none");
    return tls->value.find(ca)->value.text + " " + tls->value.find("key")->value.text;
  };
  const auto agent = [&] { return agent_config(files, cluster, cluster.nodes[1], "127.64.1.1"); };
  EXPECT_EQ(pair(agent(), "ca"), "none");
  cluster.is_secure = true;
  EXPECT_EQ(pair(agent(), "ca"), "/d/ca/ca.crt /d/ca/node-2.key");
  EXPECT_EQ(pair(server_config(files, cluster, "host=/x"), "client_ca"),
            "/d/ca/ca.crt /d/ca/server-127.0.0.1.key");
}

TEST(DevState, AFleetIsKeptByItsShape) {
  DevCluster cluster = small_cluster();
  cluster.fleet = DevFleet{.shape = FabricShape::one_zone, .rank_seconds = 2.5};
  cluster.nodes = fleet_topology(1'250, 4, FabricShape::one_zone);
  EXPECT_LT(format_cluster(cluster).size(), 1'000U);
  const Result<DevCluster> back = parse_cluster(format_cluster(cluster));
  ASSERT_TRUE(back.is_ok()) << back.status().message();
  EXPECT_EQ(back.value(), cluster);
}

TEST(DevState, ConfigFilesAreYamlWhateverThePathsHold) {
  const ClusterFiles files{"/odd \"path\" # 1"};
  YamlNode root;
  EXPECT_FALSE(parse_yaml(server_config(files, small_cluster(), "host=/x y"), &root).has_value());
  ASSERT_NE(root.find("agent_token_file"), nullptr);
  EXPECT_EQ(root.find("agent_token_file")->value.text, "/odd \"path\" # 1/agent.token");
  const DevNode& node = small_cluster().nodes[0];
  EXPECT_FALSE(parse_yaml(agent_config(files, small_cluster(), node, "127.64.1.1"), &root));
  EXPECT_EQ(root.find("name")->value.text, "node-1");
}

TEST(DevState, ANodesOwnSettingsStandInsteadOfTheCommonOnes) {
  DevCluster cluster = small_cluster();
  cluster.agent_settings = {{"", "health: {mounts: [/data]}"},
                            {"node-2", "validator: {options: --tests link}"}};
  const auto config = [&](size_t index) {
    YamlNode root;
    const std::string text =
        agent_config(ClusterFiles{"/d"}, cluster, cluster.nodes[index], "127.64.1.1");
    EXPECT_FALSE(parse_yaml(text, &root).has_value()) << text;
    return root;
  };
  const YamlNode first = config(0);
  EXPECT_NE(first.find("health"), nullptr);
  EXPECT_EQ(first.find("validator")->value.find("options")->value.text, "--quick");
  const YamlNode second = config(1);
  EXPECT_EQ(second.find("health"), nullptr);
  EXPECT_EQ(second.find("validator")->value.find("options")->value.text, "--tests link");
  EXPECT_EQ(parse_cluster(format_cluster(cluster)).value(), cluster);
}

TEST(DevState, NodesOfTwoClustersHaveDifferentAddresses) {
  EXPECT_NE(node_address("/a/dev", 0), node_address("/a/dev", 1));
  EXPECT_NE(node_address("/a/dev", 0), node_address("/a/dev2", 0));
}

TEST(Topology, FewNodesShareOneLeafManyAreSpread) {
  const std::vector<DevNode> few = default_topology(3, 4);
  EXPECT_EQ(few[2], (DevNode{.name = "node-3", .leaf = "leaf-1", .gpus = 4}));
  const std::vector<DevNode> many = default_topology(50, 8);
  EXPECT_EQ(many.front().leaf, "leaf-1");
  EXPECT_EQ(many.back().leaf, "leaf-3");
}

TEST(Topology, ReadsAList) {
  const Result<std::vector<DevNode>> nodes = parse_topology(
      "- {name: a1, zone: A, leaf: l1}\n- {name: b1, zone: B, leaf: l2, group: dev, gpus: 4}\n", 8);
  ASSERT_TRUE(nodes.is_ok()) << nodes.status().message();
  EXPECT_EQ(
      nodes.value(),
      (std::vector<DevNode>{{.name = "a1", .zone = "A", .leaf = "l1", .gpus = 8},
                            {.name = "b1", .group = "dev", .zone = "B", .leaf = "l2", .gpus = 4}}));
  EXPECT_EQ(parse_topology("nodes: [{name: x}]", 2).value()[0].gpus, 2);
}

TEST(Topology, SaysWhereItIsWrong) {
  const auto error_of = [](const char* yaml) { return parse_topology(yaml, 8).status().message(); };
  EXPECT_EQ(error_of("- {name: a}\n- {name: a}\n"), "line 2: name: a is there twice");
  EXPECT_EQ(error_of("- {name: a, rack: 1}\n"),
            "line 1: unknown key rack: known are name, group, zone, leaf, gpus, "
            "gpu_model, label");
  EXPECT_EQ(error_of("- {zone: A}\n"), "line 1: name: is missing");
  EXPECT_EQ(error_of("- {name: ../a}\n"),
            "line 1: name: '../a' is no name: letters, digits, - _ .");
  EXPECT_EQ(error_of("- {name: a, gpus: 65}\n"), "line 1: gpus: must be 0..64, is '65'");
  EXPECT_NE(error_of("{}"), "");
  EXPECT_NE(error_of("[]"), "");
}

TEST(Targets, AreServerPostgresAgentOrNode) {
  EXPECT_EQ(parse_target("server").value(),
            (std::vector<DevTarget>{{DevTarget::Kind::server, ""}}));
  EXPECT_EQ(parse_target("postgres").value(),
            (std::vector<DevTarget>{{DevTarget::Kind::postgres, ""}}));
  EXPECT_EQ(parse_target("agent:node-1").value(),
            (std::vector<DevTarget>{{DevTarget::Kind::agent, "node-1"}}));
  EXPECT_EQ(parse_target("node:node-[1-2]").value(),
            (std::vector<DevTarget>{{DevTarget::Kind::node, "node-1"},
                                    {DevTarget::Kind::node, "node-2"}}));
  for (const char* bad : {"", "agent", "agent:", "servers", "node"}) {
    EXPECT_EQ(parse_target(bad).status().code(), Code::invalid_argument) << bad;
  }
}

}  // namespace
}  // namespace hai::cli
