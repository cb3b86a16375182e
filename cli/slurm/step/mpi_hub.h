#pragma once
// The host's part of a step with --mpi=pmix: passes on what its nodes' PMIx servers tell each
// other, and brings together what they contribute to a fence. Pure; what comes from nodes is
// checked.

#include <map>
#include <set>

#include "cli/slurm/step/mpi_message.h"

namespace hai::cli::slurm {

class MpiHub {
 public:
  explicit MpiHub(std::vector<int> tasks_by_node);

  struct Outgoing {
    int node = 0;  // of the step
    MpiMessage message;
    bool operator==(const Outgoing&) const = default;
  };
  // What has to be sent now that a node has said this. An error: the step can't go on.
  Result<std::vector<Outgoing>> take(int node, const MpiMessage& message);

  // A task that has left MPI without a word, and one that has ended: true when it is both, in
  // whichever order one hears of it.
  bool note_lost(int rank);
  bool note_ended(int rank);

 private:
  struct Fence {
    std::vector<int> ranks;
    std::set<int> missing;         // nodes
    std::map<int, uint32_t> came;  // nodes, and how they call it
    int status = 0;
    std::string data;
  };
  Result<std::vector<Outgoing>> on_ready(int node);
  Result<std::vector<Outgoing>> on_fence(int node, const MpiMessage& message);
  Result<Fence*> fence_for(int node, const std::vector<int>& ranks);

  std::vector<int> tasks_by_node_;
  std::set<int> unready_;
  std::vector<Fence> fences_;  // oldest first
  std::set<int> lost_;
  std::set<int> ended_;
};

}  // namespace hai::cli::slurm
