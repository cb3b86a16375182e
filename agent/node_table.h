#pragma once
// A site's table of nodes: where each one stands. The same file goes to all nodes, so that one
// command, in an image or in cloud-init, sets up any of them.

#include <string>
#include <string_view>

#include "common/status.h"

namespace hai {

struct NodePlace {
  std::string group;  // "" = not said
  std::string zone;
  std::string leaf;
  bool operator==(const NodePlace&) const = default;
};

// Of a CSV table with the columns name, group, zone, leaf (all but name may be missing). The whole
// table is judged: a name that is none or is there twice is a mistake on every node. not_found if
// the node has no line.
Result<NodePlace> place_in_table(std::string_view text, const std::string& source,
                                 const std::string& node);

}  // namespace hai
