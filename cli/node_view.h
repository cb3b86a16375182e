#pragma once
// Nodes and the whole cluster for people.

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

std::string node_table(const std::vector<v1::Node>& nodes, bool wide, const Terminal& terminal);
// Groups, zones and leaves with their nodes as host lists.
std::string node_tree(const std::vector<v1::Node>& nodes, const Terminal& terminal);
// With the checks that are not well; `wide` = with all of them.
std::string node_card(const v1::Node& node, bool wide, const Terminal& terminal);
std::string cluster_card(const v1::Cluster& cluster, const Terminal& terminal);

}  // namespace hai::cli
