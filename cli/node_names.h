#pragma once
// Nodes as people name them on the command line: names and host lists, several of each.

#include <string>
#include <vector>

#include "common/status.h"
#include "hai/v1/types.pb.h"

namespace hai::cli {

// Each name once, in the order given.
Result<std::vector<std::string>> parse_node_names(const std::vector<std::string>& texts);

// not_found with all that are missing, as a host list: "nodes node-[8-9] do not exist".
Status unknown_nodes(const std::vector<std::string>& names);

// Keeps only the nodes of these names; none = all of them. An unknown name is not_found.
Status keep_named(const std::vector<std::string>& names, std::vector<v1::Node>& nodes);

}  // namespace hai::cli
