#include "agent/shim/shim.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <filesystem>

#include "agent/os/cgroup.h"
#include "agent/os/status_json.h"
#include "agent/shim/complain.h"
#include "agent/shim/login_door.h"
#include "agent/shim/process_tree.h"
#include "agent/shim/program_setup.h"
#include "common/boot_clock.h"

namespace hai {

namespace asio = boost::asio;

namespace {

// So often at most what a program says of itself goes to the agent; the latest counts.
constexpr Duration kWordsInterval = 1s;
constexpr int kImageTriesMax = 10;
constexpr LineServerLimits kJobLimits = {.line_bytes_max = 512 << 10, .connections_max = 256};
constexpr LineServerLimits kControlLimits = {.line_bytes_max = 4 << 10, .connections_max = 16};

int exit_code_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace

struct Shim::Program {
  Program(asio::io_context& context, const LaunchProcess& what, StartedProgram started,
          OutputPipe pipe)
      : process(what),
        pid(started.pid),
        failure(context, started.failure.release()),
        output(std::move(pipe)) {}

  const LaunchProcess& process;
  pid_t pid;
  asio::posix::stream_descriptor failure;  // see StartedProgram
  OutputPipe output;
  bool is_running = false;
  bool is_gone = false;
};

Shim::Shim(asio::io_context& context, RankDirectory directory, LaunchFile launch,
           Result<UserIdentity> user, LogSpool spool, int control_fd)
    : context_(context),
      directory_(std::move(directory)),
      control_fd_(control_fd),
      launch_(std::move(launch)),
      user_(std::move(user)),
      spool_(std::move(spool)),
      steps_(launch_.log_dir, launch_.key),
      life_(launch_.lease_until),
      timer_(context, [this] { time_passed(); }),
      cgroup_remover_(context, launch_.cgroups) {
  status_.key = launch_.key;
  status_.started_at = system_now();
}

Shim::~Shim() = default;

Status Shim::start(std::function<void()> done) {
  done_ = std::move(done);
  last_activity_ = boot_now();
  RETURN_IF_ERROR(open_sockets());
  if (const Status opened = open_to_logins(directory_); !opened.is_ok())
    complain("takes no logins: " + opened.message());
  if (!user_.is_ok()) {
    launch_failed(user_.status().message());
  } else if (const Status made = make_temp_dir(); !made.is_ok()) {
    node_failed(made.message());
  } else if (!launch_.image.empty()) {
    start_image();
  } else {
    start_programs();
  }
  control_server_->push(make_status_line(status_));
  arm_timer();
  asio::post(context_, [this] { child_changed(); });  // In case nothing could be started at all.
  return ok();
}

Status Shim::open_sockets() {
  const UserIdentity user = user_.is_ok() ? user_.value() : UserIdentity{};
  job_server_ = std::make_unique<LineServer>(context_, kJobLimits, [this](std::string_view line) {
    return answer_job_request(line, *this);
  });
  control_server_ = std::make_unique<LineServer>(
      context_, kControlLimits,
      [this](std::string_view line) { return answer_control_request(line, *this); });
  RETURN_IF_ERROR(job_server_->listen(job_socket(launch_.socket_dir), user.uid, user.gid));
  return control_server_->listen(control_fd_, control_socket(launch_.socket_dir));
}

Status Shim::make_temp_dir() {
  const std::string& path = launch_.temp_dir;
  if (path.empty() || ::mkdir(path.c_str(), 0700) == 0) return ok();
  return internal("cannot make the temporary directory {}: {}", path, errno_text(errno));
}

Status Shim::give_temp_dir() {
  const UserIdentity& user = user_.value();
  const std::string& path = launch_.temp_dir;
  if (path.empty() || !user.switch_user || ::lchown(path.c_str(), user.uid, user.gid) == 0)
    return ok();
  return internal("cannot give the temporary directory {} to user {}: {}", path, launch_.user,
                  errno_text(errno));
}

void Shim::start_image() {
  Result<std::unique_ptr<ImageHelper>> helper =
      ImageHelper::start(context_, directory_, user_.value(), spool_);
  if (!helper.is_ok()) return node_failed(helper.status().message());
  image_helper_ = std::move(helper).value();
}

void Shim::image_helper_exited() {
  image_helper_->drain();
  image_helper_.reset();
  if (life_.cause() != ExitCause::none) return;  // it was ended with the rank
  Result<ImageFile> image = read_image_file(directory_.image_file());
  if (!image.is_ok()) {
    return node_failed("hai-image was ended before it could say where image " + launch_.image +
                       " is; hai-agent's log may say why");
  }
  image_ = std::move(image).value();
  if (image_.folder.empty()) {
    return image_.is_of_the_node ? node_failed(image_.error) : launch_failed(image_.error);
  }
  if (!keep_image()) {  // it was removed, or is made anew
    if (++image_tries_ < kImageTriesMax) return start_image();
    return node_failed("cannot keep image " + launch_.image);
  }
  add_image_environment(image_, launch_);
  start_programs();
}

// Without waiting: whoever has the lock may have it for an hour.
bool Shim::keep_image() {
  if (image_.lock.empty()) return true;
  image_lock_ = UniqueFd(::open(image_.lock.c_str(), O_RDONLY | O_CLOEXEC));
  if (image_lock_.is_open() && ::flock(image_lock_.get(), LOCK_SH | LOCK_NB) == 0 &&
      ::access(image_.folder.c_str(), F_OK) == 0)
    return true;
  image_lock_.reset();
  return false;
}

void Shim::start_programs() {
  const Result<Confines> confines = make_confines(launch_, user_.value(), directory_, image_);
  if (confines.status().code() == Code::invalid_argument)
    return launch_failed(confines.status().message());
  if (!confines.is_ok()) return node_failed(confines.status().message());
  std::vector<ProgramTexts> texts;
  for (const LaunchProcess& process : launch_.processes)
    texts.push_back(make_program_texts(launch_, process, user_.value()));
  // Opening folders and looking up names may have taken long: it must not start when it must not
  // live any more.
  if (boot_now() >= life_.next_deadline()) carry_out(life_.advance(boot_now()));
  if (life_.cause() != ExitCause::none) return;
  if (const Status given = give_temp_dir(); !given.is_ok()) return node_failed(given.message());
  for (size_t i = 0; i < launch_.processes.size(); ++i) {
    const LaunchProcess& process = launch_.processes[i];
    Result<StartedProgram> started =
        start_program(launch_, process, std::move(texts[i]), user_.value(), confines.value());
    if (!started.is_ok()) return node_failed(started.status().message());
    OutputPipe pipe(context_, std::move(started.value().output), spool_,
                    [this] { saw_activity(); });
    programs_.push_back(
        std::make_unique<Program>(context_, process, std::move(started).value(), std::move(pipe)));
    watch_launch(*programs_.back());
  }
}

void Shim::watch_launch(Program& program) {
  program.failure.async_wait(program.failure.wait_read,
                             [this, &program](boost::system::error_code error) {
                               if (!error) check_launch(program);
                             });
}

void Shim::check_launch(Program& program) {
  if (!program.failure.is_open()) return;
  LaunchFailure failure;
  const ssize_t got = ::read(program.failure.native_handle(), &failure, sizeof failure);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return watch_launch(program);
  program.failure.close();
  if (got == sizeof failure) {
    std::string message = describe(failure, launch_, program.process);
    return is_of_the_node(failure.step) ? node_failed(std::move(message))
                                        : launch_failed(std::move(message));
  }
  program.is_running = true;
  check_all_running();
}

void Shim::launch_failed(std::string message) {
  carry_out(life_.end_at_once(ExitCause::launch_failed, std::move(message), boot_now()));
}

// What is wrong with the node, as a full disk, is not the job's fault: it runs elsewhere.
void Shim::node_failed(std::string message) {
  carry_out(life_.end_at_once(ExitCause::lost, std::move(message), boot_now()));
}

void Shim::check_all_running() {
  if (status_.phase != RankPhase::starting || life_.cause() == ExitCause::launch_failed) return;
  if (programs_.size() < launch_.processes.size()) return;
  for (const auto& program : programs_) {
    if (!program->is_running) return;
  }
  status_.phase = RankPhase::running;
  status_.started_at = system_now();
  last_activity_ = boot_now();
  if (signal_due_) signal_programs();
  publish();
  arm_timer();
}

void Shim::child_changed() {
  while (true) {
    int wait_status = 0;
    rusage used{};
    const pid_t pid = ::wait4(-1, &wait_status, WNOHANG, &used);
    if (pid > 0) add_usage(used);
    if (pid == 0) return save_signal_.send_to_new();
    // All that descends from us is, once orphaned, our child: no child means no process of the
    // rank.
    if (pid < 0 && errno == ECHILD) return finish();
    if (pid < 0) continue;
    if (image_helper_ && image_helper_->pid() == pid) image_helper_exited();
    for (const auto& program : programs_) {
      if (program->pid == pid) program_exited(*program, wait_status);
    }
  }
}

// What a process has used holds what those had used that it waited for itself.
void Shim::add_usage(const rusage& used) {
  const auto time = [](const timeval& value) { return value.tv_sec * 1s + value.tv_usec * 1us; };
  usage_.cpu_time += time(used.ru_utime) + time(used.ru_stime);
  usage_.peak_memory_bytes =
      std::max<int64_t>(usage_.peak_memory_bytes, int64_t{1024} * used.ru_maxrss);
}

void Shim::program_exited(Program& program, int wait_status) {
  check_launch(program);  // It may have ended because it could not start.
  program.is_gone = true;
  const bool is_last =
      std::all_of(programs_.begin(), programs_.end(), [](const auto& p) { return p->is_gone; });
  carry_out(life_.program_exited(exit_code_of(wait_status), is_last, boot_now()));
}

void Shim::asked_to_end(int signal) {
  carry_out(life_.end(ExitCause::lost, fmt::format("its hai-shim was ended by signal {}", signal),
                      kKillPatience, boot_now()));
}

bool Shim::is_suspend_requested() const { return life_.is_suspend_requested(); }

void Shim::go_suspend() {
  asio::post(context_, [this] {  // After the answer.
    carry_out(life_.end(ExitCause::go_suspend, "", kGoSuspendPatience, boot_now()));
  });
}

void Shim::report_checkpoint(int64_t step, std::string path, double save_seconds) {
  status_.checkpoint = CheckpointInfo{
      .step = step, .path = std::move(path), .save_seconds = save_seconds, .at = system_now()};
  saw_activity();
  publish_words(words_at_ + kWordsInterval);
}

void Shim::report_progress(int64_t step) {
  status_.progress_step = step;
  saw_activity();
  publish_words(boot_now() + kWordsInterval);
}

Status Shim::report_metrics(const RankMetrics& metrics) {
  RankMetrics all = metrics;
  all.insert(status_.metrics.begin(), status_.metrics.end());
  if (all.size() > kRankMetricsMax) {
    return invalid_argument("metrics: {} names, at most {}", all.size(), kRankMetricsMax);
  }
  status_.metrics = std::move(all);
  saw_activity();
  publish_words(boot_now() + kWordsInterval);
  return ok();
}

std::string Shim::whole_life_state() const {
  return status_.whole_life_state.value_or(launch_.whole_life_state);
}

void Shim::set_whole_life_state(std::string state) {
  status_.whole_life_state = std::move(state);
  publish_words(words_at_ + kWordsInterval);
}

// What the program said, then or with whatever else there is to say before.
void Shim::publish_words(MonoTime at) {
  if (boot_now() >= at) {
    words_at_ = boot_now();
    publish();
    return;
  }
  publish_due_ = publish_due_ ? std::min(*publish_due_, at) : at;
  arm_timer();
}

void Shim::set_watchdog(Duration watchdog) {
  launch_.watchdog = watchdog;
  saw_activity();
  arm_timer();
}

void Shim::note_sdk() {
  if (status_.uses_sdk) return;
  status_.uses_sdk = true;
  publish();
}

void Shim::suspend(Duration grace, bool tell_by_signal) {
  tell_by_signal_ = tell_by_signal;
  carry_out(life_.suspend(grace, boot_now()));
  // There is nothing to save yet.
  if (image_helper_)
    carry_out(life_.end(ExitCause::go_suspend, "", kGoSuspendPatience, boot_now()));
  if (status_.suspend_notified) return;
  status_.suspend_notified = true;
  publish();
}

void Shim::go_on() {
  life_.go_on();
  if (!life_.is_suspend_requested()) save_signal_.withdraw();
  signal_due_ = signal_due_ && life_.is_suspend_requested();
  arm_timer();
  if (status_.suspend_notified == life_.is_suspend_requested()) return;
  status_.suspend_notified = life_.is_suspend_requested();
  publish();
}

void Shim::kill() { carry_out(life_.end(ExitCause::killed, "", kKillPatience, boot_now())); }

void Shim::extend_lease(MonoTime until) {
  life_.extend_lease(until);
  arm_timer();
}

void Shim::write_log(const std::string& text) { spool_.append(agents_lines_, text, system_now()); }

void Shim::carry_out(LifeOrders orders) {
  if (orders.signal_program) signal_programs();
  if (orders.terminate_tree) terminate_tree(launch_.cgroups);
  if (orders.kill_tree) kill_tree(launch_.cgroups);
  arm_timer();
}

void Shim::signal_programs() {
  // Before exec the signal would only kill it.
  signal_due_ = status_.phase == RankPhase::starting;
  if (signal_due_) return;
  if (launch_.suspend_signal == 0) return tell_programs();
  for (const auto& program : programs_) {
    if (!program->is_gone) ::kill(program->pid, launch_.suspend_signal);
  }
}

void Shim::tell_programs() {
  if (!tell_by_signal_ || status_.uses_sdk) return;
  if (save_signal_.send()) life_.was_told();
}

void Shim::time_passed() {
  const MonoTime now = boot_now();
  carry_out(life_.advance(now));
  if (publish_due_ && now >= *publish_due_) publish_words(now);
  if (end_due_ && now >= *end_due_) publish_end();
  check_watchdog(now);
  arm_timer();
}

bool Shim::is_watched() const {
  return status_.phase == RankPhase::running && launch_.watchdog > Duration(0) &&
         !hang_suspected_ && !is_finishing_;
}

void Shim::arm_timer() {
  MonoTime deadline = life_.next_deadline();
  if (publish_due_) deadline = std::min(deadline, *publish_due_);
  if (end_due_) deadline = std::min(deadline, *end_due_);
  if (is_watched()) deadline = std::min(deadline, last_activity_ + launch_.watchdog);
  timer_.set(deadline);
}

void Shim::saw_activity() {
  last_activity_ = boot_now();
  if (!hang_suspected_) return;
  hang_suspected_ = false;
  status_.message.clear();
  status_.word_at.reset();
  publish();
  arm_timer();
}

// The shim only says so: whether a silent rank is a hang, and of which node, needs the view of the
// whole gang.
void Shim::check_watchdog(MonoTime now) {
  if (!is_watched()) return;
  if (now < last_activity_ + launch_.watchdog) return;
  hang_suspected_ = true;
  status_.word_at = system_now() - (now - last_activity_);
  status_.message =
      fmt::format("no progress report and no log line for {}", format_duration(launch_.watchdog));
  publish();
}

bool Shim::publish(Durability durability) {
  publish_due_.reset();
  const Status written =
      write_file_atomic(directory_.status_file(), status_to_json(status_), 0600, durability);
  if (!written.is_ok() && !end_due_) complain("status not written: " + written.message());
  control_server_->push(make_status_line(status_));
  return written.is_ok();
}

void Shim::finish() {
  if (is_finishing_) return;
  is_finishing_ = true;
  for (const auto& program : programs_) program->output.drain();
  job_server_.reset();
  // Before the groups are emptied: who logs in again and again would fill them as fast.
  if (const Status shut = shut_to_logins(directory_); !shut.is_ok())
    complain("still takes logins: " + shut.message());
  memory_limit_ = memory_limit(launch_.cgroups);  // before the groups are removed
  cgroup_remover_.start([this, killed = memory_kills(launch_.cgroups)](
                            const std::vector<pid_t>& left) { report_end(killed, left); });
}

}  // namespace hai
