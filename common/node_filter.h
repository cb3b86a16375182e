#pragma once
// Which nodes of its group a job may have: by the type of their GPUs, by labels and by name.

#include <compare>
#include <string>
#include <string_view>
#include <vector>

namespace hai {

struct NodeFacts;  // common/agent_messages.h

// Empty members ask for nothing.
struct NodeFilter {
  std::string gpu_type;             // "h800": a word, or some, of the model that the driver tells
  std::vector<std::string> labels;  // all of them
  std::string nodes;                // a host list (common/hostlist.h): no others
  std::string exclude;              // a host list: none of these
  auto operator<=>(const NodeFilter&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("gpu_type", self.gpu_type);
    visit("labels", self.labels);
    visit("nodes", self.nodes);
    visit("exclude", self.exclude);
  }

  bool is_empty() const {
    return gpu_type.empty() && labels.empty() && nodes.empty() && exclude.empty();
  }
  bool takes(const NodeFacts& facts) const;
};

// Whether the model has the words of the type side by side, whatever their case: "a100" and
// "A100-SXM4" are types of "NVIDIA A100-SXM4-80GB", "a10" is not.
bool is_gpu_type(std::string_view type, std::string_view model);

// A label of the node's own, or a type of its GPUs.
bool has_label(const NodeFacts& facts, std::string_view label);

// "GPU type h800, labels fast-disk and ib, only node-[1-4], not node-3"; "" without any.
std::string filter_text(const NodeFilter& filter);

}  // namespace hai
