#pragma once
// Nodes taken first fit, beside those that are kept for the head of the queue until it can start.

#include <map>
#include <utility>
#include <vector>

#include "sim/baselines/node_pool.h"

namespace hai {

// When the head of the queue can start, and the nodes that are kept for it until then.
struct Shadow {
  UnixTime at = UnixTime::max();
  std::vector<bool> kept;  // by slot; empty = none
  int kept_whole = 0;      // of the kept ones, how many are free as a whole now
  bool keeps(int slot) const { return !kept.empty() && kept[slot]; }
};

// Where jobs run, by when they end.
using Endings = std::map<std::pair<UnixTime, JobId>, const Placement*>;

// Lets the running jobs, in order of their ends, end one after the other until `head` fits. Keeps
// nodes that are not free yet first, then those that first fit takes last.
Shadow reserve(const NodePool& pool, const NodeDemand& head, const Endings& endings, UnixTime now);

// Whether place() would find room; beside the kept nodes if there is a shadow.
bool fits(const NodePool& pool, const NodeDemand& demand, const Shadow* shadow);

// Beside the kept nodes, or nothing.
Placement place(const NodePool& pool, const NodeDemand& demand, const Shadow& shadow);

}  // namespace hai
