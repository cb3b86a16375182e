#pragma once
// The GPUs, CPUs and memory a planner may give away, as a tree: group ⊃ zone ⊃ … ⊃ leaf ⊃ node.
// Levels are data: a leaf named "pod-1/leaf-3" stands in pod-1 of its zone. Slots (nodes) stand in
// network order, so each part of the tree is a range of them and ranks numbered by slot keep rings
// local. Changes can be undone, so that a pass tries on the live index instead of on a copy. A GPU
// is never free and held at once; CPUs and memory come with the free GPUs, less what others take
// beyond theirs.

#include <compare>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/node_filter.h"
#include "server/model/cluster_state.h"

namespace hai {

// What one rank asks of a node.
struct RankSize {
  RankSize(int gpus_asked = 0, HostAsk host = {},  // NOLINT: a number of GPUs is such a size.
           std::shared_ptr<const NodeFilter> nodes = {})
      : gpus(gpus_asked), ask(host), filter(std::move(nodes)) {}
  int gpus = 0;  // 0 = the whole node; kNoGpus
  HostAsk ask;
  std::shared_ptr<const NodeFilter> filter;  // null = any node

  std::strong_ordering operator<=>(const RankSize& other) const;
  bool operator==(const RankSize& other) const { return (*this <=> other) == 0; }
  // Takes what comes with its GPUs.
  bool is_plain() const { return gpus != kNoGpus && ask == HostAsk{}; }
  // Of these there are few; each other one is counted on its own, over all nodes.
  bool is_common() const { return ask == HostAsk{} && filter == nullptr; }
  bool takes(const NodeFacts& facts) const { return filter == nullptr || filter->takes(facts); }
};

// What is taken on a node beyond what comes with the GPUs that are in use.
struct HostLoad {
  HostParts excess;     // of those who are here; below 0 where they leave some of theirs
  HostParts over;       // of those of them who take more
  HostParts held_over;  // of those that something is held for and who will take more
  bool operator==(const HostLoad&) const = default;
  bool is_even() const { return *this == HostLoad{}; }
};

struct Slot {
  const Node* node = nullptr;
  GpuSet all;
  GpuSet free;          // neither used nor held, and the node takes jobs
  GpuSet held;          // promised to a job that waits for their users to leave
  bool usable = false;  // the node takes jobs now
  bool is_even = true;  // everybody has exactly what comes with his GPUs
  int leaf = 0;         // index of its domain
  int zone = 0;
  int group = 0;
  HostLoad host;
};

// CPUs and memory that a rank may take on the slot. While something is held there nobody is lent
// what others leave of theirs: they may go before the holder comes.
HostParts host_left(const Slot& slot);
// What of them the slot gains when this rank leaves it: never less than nothing.
HostParts host_gain(const Slot& slot, const Occupant& occupant);
// What a rank of this size takes, if it gets so many GPUs of the node.
HostParts host_need(const NodeFacts& facts, const RankSize& size);

// A part of the network: a zone, what is in it, down to leaf switches.
struct Domain {
  std::string name;
  int first_slot = 0;
  int end_slot = 0;
  int first_child = 0;  // children are domains first_child..end_child-1; none = a leaf
  int end_child = 0;
  bool is_leaf() const { return first_child == end_child; }
};

struct NodeGroup {
  int first_slot = 0;
  int end_slot = 0;
  int first_zone = 0;  // domains first_zone..end_zone-1
  int end_zone = 0;
  int gpus = 0;             // of its largest node
  bool is_uniform = false;  // all its nodes have so many GPUs
  std::map<int, int> used;  // GPUs not free → nodes; those that take no jobs are left out
};

// How well the nodes of a leaf take ranks of one size.
struct LeafFit {
  int count = -1;     // nodes that take one; -1 = must be counted again
  int best_hole = 0;  // of those, the smallest (hole, free GPUs)
  int best_free = 0;
};

class Capacity {
 public:
  Capacity() = default;
  explicit Capacity(const ClusterState& state) { rebuild(state); }

  // A node as it stands in an index of its own, without its place in the network.
  static Slot slot_of(const Node& node);

  void rebuild(const ClusterState& state);
  // The node's occupants, holds or state have changed.
  void refresh(const Node& node);

  const std::vector<Slot>& slots() const { return slots_; }
  const std::vector<Domain>& domains() const { return domains_; }
  const std::vector<NodeGroup>& groups() const { return groups_; }
  // Null if no node is in the group.
  const NodeGroup* group(const std::string& name) const;
  int index_of(NodeId node) const { return index_[static_cast<size_t>(node.value)]; }

  // How many nodes of the domain take a rank of this size.
  int fit_count(int domain, const RankSize& size) const;
  // Valid until the next call for another size.
  const LeafFit& leaf_fit(int leaf, const RankSize& size) const;
  // GPUs in use, at least, on the `nodes` usable nodes of the group that have fewest.
  int64_t least_used(const NodeGroup& group, int nodes) const;
  // Nodes of the largest zone (of `zone` if named) with the hardware for a rank, free or not.
  int hardware_in_largest_zone(const NodeGroup& group, const RankSize& size,
                               const std::string& zone) const;

  // Everything below can be undone, newest first.
  using Mark = size_t;
  Mark mark() const { return journal_.size(); }
  // The slots that were changed after the mark come back as they were; `touched` gets them, if
  // given.
  void undo_to(Mark mark, std::vector<int>* touched = nullptr);

  // For a job that starts now; `ask` is each rank's.
  void take(const Placement& placement, HostAsk ask = {});
  // For a job that starts when the GPUs' users have left; unhold() gives them up again.
  void hold(const Placement& placement, HostAsk ask = {});
  void unhold(const Placement& placement, HostAsk ask = {});
  // A rank has left: what nobody else holds is free. ungive() takes exactly that back.
  void give(NodeId node, GpuSet gpus, HostAsk ask = {});
  void ungive(NodeId node, GpuSet gpus, HostAsk ask = {});
  // Of an index of nobody's nodes: these GPUs are in use, and so much beyond what comes with them.
  void cover(int slot, GpuSet used, HostParts excess);

 private:
  struct Change {
    int slot = 0;
    GpuSet free;
    GpuSet held;
    HostLoad host;
  };
  void set(int slot, GpuSet free, GpuSet held, const HostLoad& host);
  void forget_fits(int leaf);
  void count_used(const Slot& slot, int nodes);
  void build_domain(int domain, size_t depth);
  size_t size_index(const RankSize& size) const;

  std::vector<Slot> slots_;
  std::vector<Domain> domains_;
  std::vector<NodeGroup> groups_;
  std::map<std::string, int, std::less<>> group_index_;
  std::vector<int> index_;  // by node id: ids are dense
  std::vector<Change> journal_;
  // Counted when asked for; by size, then domain (only leaves are kept). So many sizes: who asks
  // for a thousand amounts of memory pays with time, not with memory of the server.
  static constexpr size_t kSizesMax = 64;
  mutable std::vector<RankSize> sizes_;
  mutable std::vector<std::vector<LeafFit>> fits_;
  mutable std::map<std::tuple<const NodeGroup*, RankSize, std::string>, int> hardware_;
};

// Orders "node-2" before "node-10" and "pod-2/leaf-1" before "pod-10/leaf-1".
bool network_order(const Node& a, const Node& b);

}  // namespace hai
