#pragma once
// How many nodes of which size each group has in each zone, whatever their state: what admission
// asks of every submit, which must not look at every node.

#include <map>
#include <string>
#include <utility>

#include "common/agent_messages.h"

namespace hai {

class NodeCensus {
 public:
  using Sizes = std::map<std::pair<std::string, int>, int>;  // zone, GPUs → nodes

  void add(const NodeFacts& facts);
  void remove(const NodeFacts& facts);  // as it was added

  const std::map<std::string, Sizes>& groups() const { return groups_; }
  // Empty if there is no such group.
  const Sizes& sizes_of(const std::string& group) const;
  bool operator==(const NodeCensus&) const = default;

 private:
  std::map<std::string, Sizes> groups_;
};

}  // namespace hai
