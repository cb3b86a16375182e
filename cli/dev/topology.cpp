#include "cli/dev/topology.h"

#include <algorithm>
#include <set>

#include "common/config/yaml_tree.h"
#include "common/whole_number.h"

namespace hai::cli {
namespace {

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 63 &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                     }) &&
         text.front() != '.';
}

Status read_node(const YamlNode& item, DevNode& node) {
  if (item.kind != YamlNode::Kind::map) {
    return invalid_argument("line {}: must be a mapping with name, zone, leaf", item.line);
  }
  for (const YamlEntry& entry : item.entries) {
    const std::string& text = entry.value.text;
    if (entry.key == "gpus") {
      node.gpus = whole_number<int>(text).value_or(-1);
      if (node.gpus < 0 || node.gpus > 64) {
        return invalid_argument("line {}: gpus: must be 0..64, is '{}'", entry.line, text);
      }
      continue;
    }
    std::string* field = entry.key == "name"        ? &node.name
                         : entry.key == "group"     ? &node.group
                         : entry.key == "zone"      ? &node.zone
                         : entry.key == "leaf"      ? &node.leaf
                         : entry.key == "label"     ? &node.label
                         : entry.key == "gpu_model" ? &node.gpu_model
                                                    : nullptr;
    if (field == nullptr) {
      return invalid_argument(
          "line {}: unknown key {}: known are name, group, zone, leaf, gpus, gpu_model, label",
          entry.line, entry.key);
    }
    if (!is_name(text)) {
      return invalid_argument("line {}: {}: '{}' is no name: letters, digits, - _ .", entry.line,
                              entry.key, text);
    }
    *field = text;
  }
  if (node.name.empty()) return invalid_argument("line {}: name: is missing", item.line);
  return ok();
}

}  // namespace

std::vector<DevNode> default_topology(int nodes, int gpus, FabricShape shape) {
  std::vector<DevNode> topology;
  for (int i = 0; i < nodes; ++i) {
    const FabricPlace place = place_in(shape, i, nodes);
    topology.push_back({.name = fmt::format("node-{}", i + 1),
                        .zone = place.zone,
                        .leaf = place.leaf,
                        .gpus = gpus});
  }
  return topology;
}

std::vector<DevNode> fleet_topology(int nodes, int gpus, FabricShape shape) {
  std::vector<DevNode> topology = default_topology(nodes, gpus, shape);
  for (int i = 0; i < nodes; ++i) {
    topology[static_cast<size_t>(i)].name = numbered_node_name("node", i, nodes);
  }
  return topology;
}

Result<std::vector<DevNode>> parse_topology(std::string_view yaml, int gpus) {
  YamlNode root;
  if (const auto error = parse_yaml(yaml, &root)) return invalid_argument("{}", to_string(*error));
  const YamlNode* list = &root;
  if (root.kind == YamlNode::Kind::map) {
    const YamlEntry* entry = root.find("nodes");
    if (entry != nullptr) list = &entry->value;
  }
  if (list->kind != YamlNode::Kind::list || list->items.empty()) {
    return invalid_argument("must be a list of nodes: - {{name: node-1, zone: A, leaf: leaf-1}}");
  }
  if (list->items.size() > kDevNodesMax) {
    return invalid_argument("{} nodes, at most {} run on one machine", list->items.size(),
                            kDevNodesMax);
  }
  std::vector<DevNode> topology;
  std::set<std::string> names;
  for (const YamlNode& item : list->items) {
    DevNode node{.name = "", .gpus = gpus};
    RETURN_IF_ERROR(read_node(item, node));
    if (!names.insert(node.name).second) {
      return invalid_argument("line {}: name: {} is there twice", item.line, node.name);
    }
    topology.push_back(std::move(node));
  }
  return topology;
}

}  // namespace hai::cli
