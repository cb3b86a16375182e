#pragma once
// The PMIx servers of one node, one for each of its steps with --mpi=pmix: starts the program that
// is one, and passes on what it and the host tell each other. Tasks wait here until the servers of
// all nodes are ready. The library is in that program alone: who does not use MPI needs none.

#include <poll.h>

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/slurm/map_job.h"
#include "cli/slurm/step/frame.h"
#include "cli/slurm/step/mpi_message.h"
#include "cli/slurm/step/step.h"

namespace hai::cli::slurm {

inline constexpr std::string_view kMpiRemedy =
    "--mpi=pmix needs libpmix2 on each node: apt-get install libpmix2";

// What each task of the node has besides, NAME=VALUE.
using TaskVariables = std::vector<std::vector<std::string>>;

class MpiServers {
 public:
  using Emit = std::function<void(const Frame&)>;
  using StartTasks = std::function<void(uint32_t step, const StepLaunch&, const TaskVariables&)>;
  // `emit` is told what the host is to know.
  MpiServers(EnvironmentMap rank, Emit emit, StartTasks start_tasks)
      : rank_(std::move(rank)), emit_(std::move(emit)), start_tasks_(std::move(start_tasks)) {}

  void start(uint32_t step, const StepLaunch& launch);
  void take(uint32_t step, const std::string& body);  // from the host
  void add_polls(std::vector<pollfd>& polls) const;
  void on_ready(int fd);
  bool on_exit(pid_t pid, int status);  // false: not one of these
  // The step's tasks if they wait still: they will not start any more.
  std::optional<StepLaunch> give_up(uint32_t step);
  void end(uint32_t step);  // all its tasks here have ended

 private:
  struct Server {
    uint32_t step = 0;
    pid_t pid = 0;
    FrameChannel channel;
    std::optional<StepLaunch> waiting;
    TaskVariables variables;
    bool is_ready = false;
    bool has_failed = false;
  };
  Status start_server(uint32_t step, const StepLaunch& launch);
  void drain(Server& server);
  void on_message(Server& server, const Frame& frame);
  void fail(Server& server, const std::string& why);

  const EnvironmentMap rank_;
  const Emit emit_;
  const StartTasks start_tasks_;
  std::vector<Server> servers_;
  std::vector<pid_t> ended_;  // that have yet to exit
};

}  // namespace hai::cli::slurm
