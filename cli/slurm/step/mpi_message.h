#pragma once
// What the PMIx servers of a step's nodes tell each other through the host: one server on each
// node, a program of its own (cli/slurm/pmix) beside the process that runs the node's tasks. Pure.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/step/frame.h"
#include "common/status.h"

namespace hai::cli::slurm {

// What all nodes of a fence contribute together must fit into one frame.
inline constexpr size_t kMpiBytesMax = kFrameBytesMax - (1u << 20);
// Each server keeps some kilobytes for each of them.
inline constexpr int kMpiTasksMax = 65'536;

enum class MpiKind : uint8_t {
  setup = 1,   // to the server; data: an MpiSetup
  ready,       // from it; data: the variables of each task of its node, for that node only
  go,          // host → nodes, when all are ready: start the tasks
  fence,       // all tasks of a node that take part have come; data: what they contribute
  fence_done,  // data: what all nodes contributed
  ask,         // what has this rank published? To its node
  answer,      // data: that; back to the node that asked
  lost,        // this rank has left without MPI_Finalize
  abort,       // this rank has called MPI_Abort
  failed,      // the server cannot do its work; data: why
};

struct MpiMessage {
  MpiKind kind{};
  uint32_t id = 0;         // of a fence or a question, as the node that began it counts
  int node = 0;            // of the step: who asked
  int rank = 0;            // of the step
  int status = 0;          // PMIx's, or the exit code of an abort
  std::vector<int> ranks;  // of a fence, in their order; empty = all of the step
  std::string data;
  bool operator==(const MpiMessage&) const = default;
};
std::string encode_mpi(const MpiMessage& message);
Result<MpiMessage> decode_mpi(std::string_view body);

// All a node's server has to know of its step.
struct MpiSetup {
  std::string space;      // PMIx's name of the step; others can't guess it
  std::string directory;  // for its files
  int node_index = 0;
  std::vector<std::string> nodes;
  std::vector<int> tasks_by_node;
  bool operator==(const MpiSetup&) const = default;
};
std::string encode_setup(const MpiSetup& setup);
Result<MpiSetup> decode_setup(std::string_view body);

// "n3,n1" and "0,1;2,3": where ranks are, in the form that PMIx's maps are made of.
std::string node_text(const MpiSetup& setup);
std::string rank_text(const MpiSetup& setup);
// "2,3": the ranks of a node.
std::string ranks_on(const std::vector<int>& tasks_by_node, int node);
int first_rank_of(const std::vector<int>& tasks_by_node, int node);
// -1: there is no such rank.
int node_of_rank(const std::vector<int>& tasks_by_node, int rank);

}  // namespace hai::cli::slurm
