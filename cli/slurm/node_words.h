#pragma once
// hai's nodes in Slurm's words.

#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/format_fields.h"
#include "hai/v1/types.pb.h"

namespace hai::cli::slurm {

struct NodeState {
  std::string_view code;  // "drng"
  std::string_view name;  // "draining"
  bool answers = true;    // else a * follows
};
NodeState node_state(const v1::Node& node);

// The letters that sinfo -o knows.
const std::vector<KnownLetter>& node_letters();

// Nodes that look alike in all the fields but their name are one line.
std::vector<std::function<std::string(char)>> node_rows(const std::vector<v1::Node>& nodes,
                                                        const std::vector<FormatField>& fields,
                                                        bool one_per_node);

std::string describe_node(const v1::Node& node, bool one_line);

}  // namespace hai::cli::slurm
