#pragma once
// The PMIx server of one node's part of a step: libpmix, behind messages. The library calls back on
// a thread of its own; what it wants is kept for the one thread that polls `wake_fd`. One in a
// program, as the library has it.

#include <string>
#include <vector>

#include "cli/slurm/step/mpi_message.h"
#include "common/status.h"

namespace hai::cli::slurm {

class PmixServer {
 public:
  explicit PmixServer(MpiSetup setup) : setup_(std::move(setup)) {}
  ~PmixServer();
  PmixServer(const PmixServer&) = delete;
  PmixServer& operator=(const PmixServer&) = delete;

  // Blocks until all tasks of the node may connect.
  Status start();
  // What each of them needs to find it, NAME=VALUE.
  Result<std::vector<std::vector<std::string>>> task_variables() const;

  int wake_fd() const;
  std::vector<MpiMessage> take_messages();  // for the host
  void take(const MpiMessage& message);     // from the host

 private:
  Status register_step() const;
  Status register_tasks() const;

  const MpiSetup setup_;
  bool is_started_ = false;
};

}  // namespace hai::cli::slurm
