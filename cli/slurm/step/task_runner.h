#pragma once
// The tasks of steps on one node: starts them, passes their output on, tells how they ended. For a
// program of one thread that polls.

#include <poll.h>
#include <sys/types.h>

#include <functional>
#include <string_view>
#include <vector>

#include "cli/slurm/map_job.h"
#include "cli/slurm/step/fd.h"
#include "cli/slurm/step/frame.h"
#include "cli/slurm/step/mpi_servers.h"
#include "cli/slurm/step/step.h"
#include "cli/slurm/step/step_record.h"

namespace hai::cli::slurm {

// Starts a program with its standard streams; -1 = /dev/null. The child leads its own process group
// and dies with its parent. Errors of exec are said on its standard error; exit code 127 or 126.
Result<pid_t> start_process(const std::vector<std::string>& command, const std::string& directory,
                            const std::vector<std::string>& environment, int out, int error);

// The same with a terminal of its own, which leads a session: all three streams are it. `master` is
// its other side, which never blocks.
Result<pid_t> start_on_terminal(const std::vector<std::string>& command,
                                const std::string& directory,
                                const std::vector<std::string>& environment,
                                const StepTerminal& terminal, Fd& master);

int exit_code_of_wait(int status);  // 128 + N for signal N

// How a task ended: the body of task_ended between ranks.
struct TaskEnd {
  int code = 0;
  TaskUsage used;  // of all its processes
};
std::string encode_task_end(const TaskEnd& end);
TaskEnd decode_task_end(const std::string& body);  // of a rank of an older version without `used`

// A child that has ended, as waitpid(2) would give it; 0 if there is none now.
struct EndedChild {
  pid_t pid = 0;
  int status = 0;
  TaskUsage used;
};
EndedChild take_ended_child();

class TaskRunner {
 public:
  // `emit` is told output, error_output, task_ended, refused and mpi.
  TaskRunner(EnvironmentMap rank, std::function<void(const Frame&)> emit);

  void start(uint32_t step, const StepLaunch& launch);
  void take_mpi(uint32_t step, const std::string& body) { mpi_.take(step, body); }
  void add_polls(std::vector<pollfd>& polls) const;
  void on_ready(int fd);
  bool on_exit(const EndedChild& child);              // false: not one of these
  void signal(uint32_t step, int number);             // to the tasks of one step
  void signal(int number);                            // all of them
  void type(uint32_t step, std::string_view bytes);   // into the terminal of its task
  void resize(uint32_t step, std::string_view size);  // "ROWS COLUMNS"
  void kill(uint32_t step);
  void kill_all();
  bool is_idle() const { return tasks_.empty(); }

 private:
  struct Task {
    uint32_t step = 0;
    uint32_t number = 0;
    pid_t pid = 0;
    Fd output;
    Fd error;
    Fd terminal;        // instead of both
    std::string typed;  // not taken by it yet
  };
  void start_tasks(uint32_t step, const StepLaunch& launch, const TaskVariables& variables);
  Status start_task(Task& task, const StepLaunch& launch, int local,
                    const std::vector<std::string>& variables);
  void flush_typed(Task& task);
  void drain(Task& task);
  bool pass_on(const Task& task, FrameKind kind, Fd& from);

  const EnvironmentMap rank_;
  const std::function<void(const Frame&)> emit_;
  std::vector<Task> tasks_;
  MpiServers mpi_;
};

}  // namespace hai::cli::slurm
