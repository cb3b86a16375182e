#pragma once
// The first rank of a job from sbatch or srun: runs the script once, and the steps that srun asks
// for in it on all ranks. One thread that polls.

#include <optional>

#include "cli/patience.h"
#include "cli/slurm/job_plan.h"
#include "cli/slurm/step/mpi_hub.h"
#include "cli/slurm/step/output_writer.h"
#include "cli/slurm/step/rendezvous.h"
#include "cli/slurm/step/step_record.h"
#include "cli/slurm/step/step_resources.h"
#include "cli/slurm/step/task_runner.h"
#include "cli/slurm/step/work_directory.h"

namespace hai::cli::slurm {

// A rank that is gone without a word. Why, its agent or the server finds out, and ends the attempt
// as what it was: a program that failed there, or a lost node, after which the job runs elsewhere.
// Who exits first would decide that it was the program. So the others only end what is no use any
// more, and wait; if nothing happens at all, they give up.
class LostRank {
 public:
  // `why`: if not because the other side has hung up.
  LostRank(std::string who, Status why)
      : who_(std::move(who)), why_(std::move(why)), since_(mono_now()) {}
  // True once: now end script and tasks. Not at once, since they may have been told to end and
  // clean up.
  bool should_end_programs();
  bool should_give_up() const;

 private:
  std::string who_;
  Status why_;
  MonoTime since_;
  bool has_ended_programs_ = false;
};

class BatchHost {
 public:
  // `directory` outlives it; `rank` names its bin.
  BatchHost(JobPlan plan, EnvironmentMap rank, std::vector<Peer> peers, std::string node,
            const WorkDirectory& directory);

  // The exit code of the job.
  int run_script(const std::string& script, const std::vector<std::string>& interpreter);
  int run_command();

 private:
  struct Client {
    FrameChannel channel;
    std::optional<uint32_t> step;  // none: it has not asked yet
  };
  struct Step {
    uint32_t number = 0;
    int tasks_left = 0;
    int exit_code = 0;
    bool kill_on_bad_exit = false;
    std::optional<MonoTime> kill_at;  // it was cancelled: who has not ended by then is killed
    std::vector<int> ranks;           // of the job, by node of the step
    std::optional<MpiHub> mpi;        // with --mpi=pmix
    StepRecord record;
  };
  struct WaitingStep {
    uint32_t number = 0;
    StepRequest request;
  };

  Status prepare();  // the socket that srun finds, signals, when the time limit's signal is due
  void loop();
  std::vector<pollfd> wanted_polls() const;
  void serve(int fd);
  void start_script(const std::vector<std::string>& words);
  int finish(int code);
  void take_signals();
  int poll_milliseconds() const;
  std::optional<MonoTime> next_deadline() const;
  void check_time_limit();  // --signal, so many seconds before it
  void on_child(const EndedChild& child);
  void pass_script_output(Fd& from, int own, const Fd& file);
  bool open_output();
  EnvironmentMap environment_of_script() const;
  void on_client(Client& client, const Frame& frame);
  void pass_to_terminal(const Frame& frame);
  void tell_client(uint32_t step, const Frame& frame);
  void on_peer(size_t peer, const Frame& frame);
  void on_rank(int rank, const Frame& frame);
  void send_to_rank(int rank, const Frame& frame);
  Step* find_step(uint32_t number);
  // host_mpi.cpp
  void on_mpi(int rank, const Frame& frame);
  void send_mpi(uint32_t number, const std::vector<MpiHub::Outgoing>& messages);
  void abort_step(Step& step, const MpiMessage& message);
  void refuse_step(Step& step, const std::string& why);
  void check_left(uint32_t number, int task);
  void fail_step(Step& step, int code);
  void check_lost();
  // host_cancel.cpp
  void on_cancel(Client& client, const Frame& frame);
  void signal_step(const Step& step, int signal);
  void kill_cancelled();
  // Now, or as soon as others have left it the GPUs and CPUs it asks for.
  Status start_step(const StepRequest& request, uint32_t number);
  Status launch_step(const StepRequest& request, uint32_t number, std::vector<RankLaunch> launches);
  void start_waiting_steps();
  void keep_record(const std::string& record);
  void kill_step(uint32_t number);
  void on_task(Frame frame, const std::string& node);
  void tasks_ended(uint32_t number, int count, int code);
  bool is_done() const;

  const JobPlan plan_;
  const EnvironmentMap rank_;
  std::vector<Peer> peers_;
  std::vector<std::string> names_;
  const WorkDirectory& directory_;
  Fd signals_;
  Fd door_;
  TaskRunner tasks_;
  std::vector<Client> clients_;
  std::vector<Step> steps_;
  StepResources resources_;
  std::vector<WaitingStep> waiting_;  // oldest first
  bool may_start_waiting_ = false;    // something has become free
  std::optional<MonoTime> signal_at_;
  uint32_t next_step_ = 0;
  pid_t script_ = 0;
  std::optional<int> script_code_;
  Fd script_output_;
  Fd script_error_;
  Fd output_file_;
  Fd error_file_;
  std::optional<OutputWriter> own_output_;  // of a job from srun
  std::optional<int> own_code_;
  std::optional<LostRank> lost_;
  bool is_ending_ = false;  // was told so while it waited for that
  bool is_record_broken_ = false;
};

// "srun: error: node-2: task 1: Exited with exit code 3\n"; "" for a good end. Of a task_ended.
std::string describe_end(const Frame& frame);

// A name for a step among PMIx servers that others can't guess.
std::string mpi_space(const std::string& job, uint32_t step);

// The signals that a runner takes one by one, blocked for all else.
Fd take_over_signals();

}  // namespace hai::cli::slurm
