#include "sim/trace/cluster_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "sim/trace/csv_reader.h"

namespace hai {
namespace {

constexpr int kNodesMax = 100'000;
constexpr int kNodesOfLeaf = 20;
constexpr int kTopologyGpus = 8;  // such a file does not say

std::optional<int> to_int(std::string_view text) {
  int value = 0;
  auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

NodeFacts make_node(std::string name, std::string group, std::string zone, std::string leaf,
                    int gpus) {
  return {.name = name,
          .group = std::move(group),
          .zone = std::move(zone),
          .leaf = std::move(leaf),
          .address = std::move(name),
          .gpus = gpus,
          .cpus = 16 * gpus,
          .memory_bytes = int64_t{gpus} << 36};
}

Result<TraceCluster> uniform(int nodes, int gpus) {
  if (nodes < 1 || nodes > kNodesMax)
    return invalid_argument("--cluster: must have 1..{} nodes, has {}", kNodesMax, nodes);
  if (gpus < 1 || gpus > GpuSet::kMax)
    return invalid_argument("--cluster: must have 1..{} GPUs per node, has {}", GpuSet::kMax, gpus);
  TraceCluster cluster;
  int of_zone_a = (nodes + 1) / 2;
  for (int i = 0; i < nodes; ++i) {
    bool in_a = i < of_zone_a;
    int leaf = (in_a ? i : i - of_zone_a) / kNodesOfLeaf + 1;
    const char* zone = in_a ? "A" : "B";
    cluster.nodes.push_back(make_node(fmt::format("node-{}", i + 1), "training", zone,
                                      fmt::format("{}{}", zone, leaf), gpus));
  }
  return cluster;
}

// Rules for all nodes of a file: names are unique, a leaf is in one zone, all nodes are alike.
class Collector {
 public:
  Status add(const CsvReader& reader, NodeFacts node) {
    if (node.name.empty()) return reader.error("the node's name must not be empty");
    if (node.zone.empty() || node.leaf.empty())
      return reader.error(fmt::format("node {}: zone and leaf must not be empty", node.name));
    if (!names_.insert(node.name).second)
      return reader.error(fmt::format("node {} is there twice", node.name));
    const std::string& zone = zones_.try_emplace(node.leaf, node.zone).first->second;
    if (zone != node.zone) {
      return reader.error(fmt::format("leaf {} is in zone {} here and in zone {} above", node.leaf,
                                      node.zone, zone));
    }
    if (!cluster_.nodes.empty()) {
      const NodeFacts& first = cluster_.nodes.front();
      if (node.group != first.group || node.gpus != first.gpus) {
        return reader.error(fmt::format(
            "node {}: {} GPUs in group {}, but the first node has {} in group {}; a trace is "
            "replayed on nodes that are alike",
            node.name, node.gpus, node.group, first.gpus, first.group));
      }
    }
    if (std::ssize(cluster_.nodes) >= kNodesMax)
      return reader.error(fmt::format("more than {} nodes", kNodesMax));
    cluster_.nodes.push_back(std::move(node));
    return ok();
  }

  // Leaf by leaf, so that ids follow the network.
  TraceCluster take() {
    std::ranges::stable_sort(cluster_.nodes, {},
                             [](const NodeFacts& node) { return std::tie(node.zone, node.leaf); });
    return std::move(cluster_);
  }

 private:
  TraceCluster cluster_;
  std::set<std::string> names_;
  std::map<std::string, std::string> zones_;  // by leaf
};

Result<TraceCluster> read_nodes(const std::string& path) {
  auto opened = CsvReader::open(path, {{"node", "group", "zone", "leaf", "gpus"}, {}});
  if (!opened.is_ok()) return opened.status();
  CsvReader& reader = *opened.value();
  Collector collector;
  while (reader.next()) {
    auto gpus = to_int(reader.field(4));
    if (!gpus || *gpus < 1 || *gpus > GpuSet::kMax) {
      return reader.error(
          fmt::format("gpus: must be 1..{}, is '{}'", GpuSet::kMax, reader.field(4).substr(0, 64)));
    }
    if (reader.field(1).empty()) return reader.error("group: must not be empty");
    RETURN_IF_ERROR(collector.add(
        reader, make_node(std::string(reader.field(0)), std::string(reader.field(1)),
                          std::string(reader.field(2)), std::string(reader.field(3)), *gpus)));
  }
  RETURN_IF_ERROR(reader.status());
  return collector.take();
}

// A Clos map: '/' separates the levels of switches in a leaf's name.
Result<TraceCluster> read_topology(const std::string& path) {
  auto opened = CsvReader::open(path, {{"ip", "DSW", "PSW", "ASW"}, {}});
  if (!opened.is_ok()) return opened.status();
  CsvReader& reader = *opened.value();
  Collector collector;
  while (reader.next()) {
    for (size_t column = 1; column < 4; ++column) {
      if (reader.field(column).empty()) return reader.error("DSW, PSW and ASW must not be empty");
    }
    RETURN_IF_ERROR(collector.add(
        reader, make_node(std::string(reader.field(0)), "training", std::string(reader.field(1)),
                          fmt::format("{}/{}", reader.field(2), reader.field(3)), kTopologyGpus)));
  }
  RETURN_IF_ERROR(reader.status());
  return collector.take();
}

Result<TraceCluster> read_any(const std::string& text) {
  size_t cross = text.find('x');
  if (cross != std::string::npos) {
    auto nodes = to_int(std::string_view(text).substr(0, cross));
    auto gpus = to_int(std::string_view(text).substr(cross + 1));
    if (nodes && gpus) return uniform(*nodes, *gpus);
  }
  auto header = read_csv_header(text);
  if (!header.is_ok()) return header.status();
  bool is_topology = std::ranges::find(header.value(), "DSW") != header.value().end();
  return is_topology ? read_topology(text) : read_nodes(text);
}

}  // namespace

Result<TraceCluster> read_cluster(const std::string& text_or_path) {
  auto read = read_any(text_or_path);
  if (!read.is_ok()) return read.status();
  TraceCluster cluster = std::move(read).value();
  if (cluster.nodes.empty()) return invalid_argument("{}: there is no node in it", text_or_path);
  cluster.gpus_per_node = cluster.nodes.front().gpus;
  std::map<std::string, int> of_zone;
  for (const NodeFacts& node : cluster.nodes) ++of_zone[node.zone];
  int first = 0;
  int second = 0;
  for (const auto& [zone, count] : of_zone) {
    second = std::max(second, std::min(first, count));
    first = std::max(first, count);
  }
  cluster.most_nodes_together = first + second;
  return cluster;
}

}  // namespace hai
