#pragma once
// What keeps a waiting job from starting: a minimal set of facts. If all of them went the job could
// start now, in free capacity or where jobs it may interrupt leave; as long as any one of them
// stays it can't. (Of several such sets one with few facts: greedy, then without the needless.)

#include <string>
#include <string_view>
#include <vector>

#include "common/knobs.h"
#include "server/model/cluster_state.h"

namespace hai {

enum class BlockingKind {
  user_inactive,
  held,
  begin_time,
  backoff,      // it failed, and is not started at once again
  array,        // it runs by its tasks; or the task is over the limit of its array
  dependency,   // another job has to succeed first, or has not
  quota,        // used up by the holders
  node,         // takes no jobs
  job,          // runs where this one needs to, and may not be interrupted for it
  reservation,  // nodes are held for the holder
  cross_zone,   // the holder runs across zones, which only so many jobs may at a time
  hardware,     // not enough nodes of that kind: nothing that goes would help
};
std::string_view to_string(BlockingKind kind);

struct BlockingFact {
  BlockingKind kind = BlockingKind::job;
  std::string text;
  std::vector<std::string> holders;  // "job/17", "node/node-3", "user/ann"
  JobId job;                         // of a job, a dependency, a reservation, cross_zone
  NodeId node;
  bool operator==(const BlockingFact&) const = default;
};

// Empty if nothing does: then the next planning pass starts it or makes room. Jobs and nodes by id,
// other facts before them. The job must wait.
std::vector<BlockingFact> blocking_set(const ClusterState& state, const Knobs& knobs, UnixTime now,
                                       JobId job);

// For people: facts that say the same of several jobs or nodes as one.
std::vector<BlockingFact> merge_facts(const std::vector<BlockingFact>& facts);

}  // namespace hai
