#pragma once
// How many nodes of which size each group has in each zone, and the most CPUs and memory of one of
// them, whatever their state: what admission asks of every submit, which must not look at every
// node.

#include <cstdint>
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

  struct Largest {
    int cpus = 0;
    int64_t memory_bytes = 0;
  };
  // Of a group's nodes in a zone, or in all zones if it is empty. A node that does not know its
  // own has the most there can be. 0 without such nodes.
  Largest largest_of(const std::string& group, const std::string& zone) const;
  // How many of them have so many CPUs, or so much memory, whichever are fewer; counts no further
  // than `enough`.
  int nodes_with(const std::string& group, const std::string& zone, int cpus, int64_t memory_bytes,
                 int enough) const;
  bool operator==(const NodeCensus&) const = default;

 private:
  struct Amounts {  // how many nodes have so much
    std::map<int, int> cpus;
    std::map<int64_t, int> memory_bytes;
    bool operator==(const Amounts&) const = default;
  };

  std::map<std::string, Sizes> groups_;
  std::map<std::pair<std::string, std::string>, Amounts> amounts_;  // by group and zone
};

}  // namespace hai
