#pragma once
// Whose fault a failed program is: the job's, or that of a node on which a fault was seen.

#include <optional>
#include <string>
#include <string_view>

#include "server/model/decision.h"

namespace hai {

struct NodeFault {
  NodeId node;
  std::string text;  // "node-4: Xid 79: GPU has fallen off the bus (gpu_xid gpu 3 xid 79)"
};

// The fault of one of the attempt's nodes, on a GPU it uses if the fault names any, that stands now
// or was acted upon within `attribution_before`; the failing rank's own node first.
std::optional<NodeFault> fault_behind(const Decision& decision, const Attempt& attempt,
                                      size_t failed_rank);

// Puts jobs back in the queue that failed on this node within `attribution_after` and were taken to
// have failed by themselves, because of a fault that has only been seen now.
void reopen_recent_failures(Decision& decision, const Node& node, const CheckResult& fault);

// Whether that may still happen to the job: it has failed not longer ago, nobody has run it again
// since, and its name and its array are still there for it.
bool may_be_opened_again(const Decision& decision, const Job& job);

// Different jobs and people that have left marks of this kind on the node within a day (of failed
// launches an hour), and since a validation has judged it or a person has accepted it.
struct Witnesses {
  static constexpr size_t kJobsNeeded = 3;
  size_t jobs = 0;
  size_t people = 0;
  // What only one person's jobs say may be his own doing.
  bool suffice() const { return jobs >= kJobsNeeded && people >= 2; }
};
Witnesses witnesses_of(const Node& node, MarkKind kind, UnixTime now);

// Leaves the job's mark on the node, unless it would tell nothing new: the job has left one that
// still counts, or kJobsNeeded jobs of the same person have. A node keeps only its last marks, and
// one person's jobs must not push out what else stands against it.
void mark_by_job(Decision& decision, NodeId node, MarkKind kind, std::string_view about,
                 const Job& job);

// As in NodeFault; without the node where that is clear. What helps against it stays with the
// check.
std::string describe(const CheckResult& check, const Node& node);
std::string describe(const CheckResult& check);

}  // namespace hai
