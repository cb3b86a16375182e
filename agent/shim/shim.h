#pragma once
// Holds one rank from its start to the end of its last process: wires programs, sockets, log,
// deadlines and status together. rank_life.h decides, this carries out. One thread; asleep unless
// something happens.

#include <signal.h>
#include <sys/resource.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "agent/os/launch_file.h"
#include "agent/os/log_spool.h"
#include "agent/os/rank_directory.h"
#include "agent/shim/boot_timer.h"
#include "agent/shim/cgroup_remover.h"
#include "agent/shim/confines.h"
#include "agent/shim/control_requests.h"
#include "agent/shim/image_helper.h"
#include "agent/shim/job_requests.h"
#include "agent/shim/line_server.h"
#include "agent/shim/output_pipe.h"
#include "agent/shim/program.h"
#include "agent/shim/rank_life.h"
#include "agent/shim/save_signal.h"
#include "agent/shim/step_spool.h"
#include "agent/shim/user_identity.h"
#include "common/boot_clock.h"

namespace hai {

class Shim final : private JobPort, private ControlPort {
 public:
  Shim(boost::asio::io_context& context, RankDirectory directory, LaunchFile launch,
       Result<UserIdentity> user, LogSpool spool, int control_fd);
  ~Shim() override;

  // Starts the rank. If its programs can't start that becomes its status; an error is one of the
  // shim itself. `done` is called when the rank has ended, its status is on disk and the agent, if
  // connected, knows.
  Status start(std::function<void()> done);

  void child_changed();           // SIGCHLD
  void asked_to_end(int signal);  // SIGTERM and the like, sent to the shim itself

 private:
  struct Program;

  bool is_suspend_requested() const override;
  void go_suspend() override;
  void report_checkpoint(int64_t step, std::string path, double save_seconds) override;
  void report_progress(int64_t step) override;
  Status report_metrics(const RankMetrics& metrics) override;
  std::string whole_life_state() const override;
  void set_whole_life_state(std::string state) override;
  void set_watchdog(Duration watchdog) override;
  Status record_step(std::string_view line) override { return steps_.add(line, system_now()); }
  void note_sdk() override;

  void suspend(Duration grace, bool tell_by_signal) override;
  void go_on() override;
  void kill() override;
  void extend_lease(MonoTime until) override;
  void write_log(const std::string& text) override;

  Status open_sockets();
  Status make_temp_dir();
  Status give_temp_dir();
  void start_image();
  void image_helper_exited();
  bool keep_image();
  void start_programs();
  void watch_launch(Program& program);
  void check_launch(Program& program);
  void launch_failed(std::string message);
  void node_failed(std::string message);
  void check_all_running();
  void add_usage(const rusage& used);
  void program_exited(Program& program, int wait_status);

  void carry_out(LifeOrders orders);
  void signal_programs();
  void tell_programs();
  void time_passed();
  bool is_watched() const;  // whether its silence would be told
  void arm_timer();
  void saw_activity();
  void check_watchdog(MonoTime now);
  void publish_words(MonoTime at);
  // Whether it was written; whoever is connected is told in any case.
  bool publish(Durability durability = Durability::survives_crash_of_program);
  void publish_end();
  void finish();
  void say_left_behind(const std::vector<pid_t>& processes);
  void report_end(int64_t killed_for_memory, const std::vector<pid_t>& left);
  void clean_up();

  boost::asio::io_context& context_;
  RankDirectory directory_;
  const int control_fd_;
  LaunchFile launch_;
  const Result<UserIdentity> user_;
  LogSpool spool_;
  LogSpool::Source agents_lines_;
  StepSpool steps_;
  RankLife life_;
  RankStatus status_;
  RankUsage usage_;  // of the processes that have ended
  BootTimer timer_;
  CgroupRemover cgroup_remover_;
  std::unique_ptr<ImageHelper> image_helper_;  // as long as it looks for the image
  ImageFile image_;
  int image_tries_ = 0;
  UniqueFd image_lock_;  // keeps the image as long as this process lives
  std::vector<std::unique_ptr<Program>> programs_;
  std::unique_ptr<LineServer> job_server_;
  std::unique_ptr<LineServer> control_server_;
  std::function<void()> done_;
  bool signal_due_ = false;      // the suspend signal waits for the programs to run
  bool tell_by_signal_ = false;  // the suspend request, where no program uses the SDK
  SaveSignal save_signal_{SIGTERM};
  std::optional<MonoTime> publish_due_;  // what the program says is gathered
  std::optional<MonoTime> end_due_;      // when the end, which could not be written, is tried again
  MonoTime words_at_{};                  // when its words went out last
  MonoTime last_activity_{};
  int64_t memory_limit_ = 0;  // bytes; of the rank that has ended
  bool hang_suspected_ = false;
  bool is_finishing_ = false;
};

}  // namespace hai
