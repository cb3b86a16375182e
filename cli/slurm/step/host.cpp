#include "cli/slurm/step/host.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/format.h"
#include "cli/slurm/step/own_job.h"
#include "cli/slurm/step/task_environment.h"

namespace hai::cli::slurm {
namespace {

constexpr size_t kHostBacklogBytesMax = 4u << 20;

int number_of(const std::string& text) { return std::atoi(text.c_str()); }

StepRecord begun_record(const StepRequest& request, uint32_t number,
                        const std::vector<RankLaunch>& launches) {
  StepRecord record = {.number = number, .began_at = wall_now()};
  const std::string program = request.command.empty() ? "" : request.command.front();
  record.name = program.substr(program.rfind('/') + 1);
  for (const RankLaunch& part : launches) {
    const StepLaunch& launch = part.launch;
    record.tasks += launch.node_tasks;
    record.cpus += int64_t{launch.cpus_per_task} * launch.node_tasks;
    if (launch.has_own_gpus != 0 && !launch.gpus.empty())
      record.gpus += 1 + static_cast<int>(std::ranges::count(launch.gpus, ','));
    record.nodes = launch.node_list;
    record.node_count = launch.nodes;
  }
  return record;
}

}  // namespace

Fd take_over_signals() {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGALRM,
                           SIGURG, SIGXCPU, SIGWINCH, SIGPWR}) {
    sigaddset(&taken, signal);
  }
  ::sigprocmask(SIG_BLOCK, &taken, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  return Fd(::signalfd(-1, &taken, SFD_NONBLOCK | SFD_CLOEXEC));
}

BatchHost::BatchHost(JobPlan plan, EnvironmentMap rank, std::vector<Peer> peers, std::string node,
                     const WorkDirectory& directory)
    : plan_(std::move(plan)),
      rank_(std::move(rank)),
      peers_(std::move(peers)),
      directory_(directory),
      tasks_(rank_, [this](const Frame& frame) { on_rank(0, frame); }),
      resources_(peers_.size() + 1) {
  resources_.announce(0, resources_of(rank_));
  names_.push_back(std::move(node));
  for (const Peer& peer : peers_) names_.push_back(peer.node);
}

int BatchHost::run_command() {
  if (const Status status = prepare(); !status.is_ok()) {
    write_all(STDERR_FILENO, fmt::format("hai-slurm: error: {}\n", status.message()));
    return finish(1);
  }
  own_output_.emplace(OutputWriter::Options{.label = plan_.label});
  StepRequest request;
  request.kill_on_bad_exit = plan_.kill_on_bad_exit;
  request.mpi = plan_.mpi ? 1 : 0;
  request.command = plan_.command;
  request.directory = plan_.container_directory;
  request.environment = texts_of(environment_of_script());
  const Status status = start_step(request, next_step_++);
  if (!status.is_ok()) {
    write_all(STDERR_FILENO, fmt::format("srun: error: {}\n", status.message()));
    return finish(1);
  }
  loop();
  own_output_.reset();
  return finish(lost_ ? 1 : *own_code_);
}

std::vector<pollfd> BatchHost::wanted_polls() const {
  std::vector<pollfd> polls = {{signals_.get(), POLLIN, 0}, {door_.get(), POLLIN, 0}};
  for (const Fd* fd : {&script_output_, &script_error_}) {
    if (fd->get() >= 0) polls.push_back({fd->get(), POLLIN, 0});
  }
  bool is_full = false;
  for (const Client& client : clients_) {
    const size_t backlog = client.channel.backlog();
    is_full = is_full || backlog > kHostBacklogBytesMax;
    const short events = static_cast<short>(POLLIN | (backlog > 0 ? POLLOUT : 0));
    polls.push_back({client.channel.fd(), events, 0});
  }
  for (const Peer& peer : peers_) {
    if (!peer.channel.is_open()) continue;
    const short output = peer.channel.backlog() > 0 ? POLLOUT : 0;
    const short events = static_cast<short>((is_full ? 0 : POLLIN) | output);
    polls.push_back({peer.channel.fd(), events, 0});
  }
  // A client that does not read holds its tasks up, as a pipe would; never the script, which may be
  // what reads the client.
  if (!is_full) tasks_.add_polls(polls);
  return polls;
}

void BatchHost::loop() {
  while (!is_done()) {
    std::vector<pollfd> polls = wanted_polls();
    const int ready = ::poll(polls.data(), polls.size(), poll_milliseconds());
    check_time_limit();
    kill_cancelled();
    if (ready < 0) continue;
    for (const pollfd& poll : polls) {
      if (poll.revents != 0 && !is_done()) serve(poll.fd);
    }
    check_lost();
    while (std::exchange(may_start_waiting_, false)) start_waiting_steps();
    std::erase_if(clients_, [](const Client& client) { return !client.channel.is_open(); });
  }
}

int BatchHost::poll_milliseconds() const {
  if (lost_) return 1'000;
  const std::optional<MonoTime> next = next_deadline();
  if (!next) return -1;
  // Rounded up, or the last millisecond would be a busy one.
  const Duration left = std::max(*next - mono_now(), Duration(0));
  return static_cast<int>(std::min<int64_t>(left / 1ms + 1, 3'600'000));
}

std::optional<MonoTime> BatchHost::next_deadline() const {
  std::optional<MonoTime> next = signal_at_;
  for (const Step& step : steps_) {
    if (step.kill_at && (!next || *step.kill_at < *next)) next = step.kill_at;
  }
  return next;
}

void BatchHost::check_time_limit() {
  if (!signal_at_ || mono_now() < *signal_at_) return;
  signal_at_.reset();
  if (plan_.signal_script) {
    if (script_ > 0) ::kill(script_, plan_.signal);
    return;
  }
  tasks_.signal(plan_.signal);
  for (Peer& peer : peers_) {
    peer.channel.send({FrameKind::signal, 0, 0, std::to_string(plan_.signal)});
  }
}

void BatchHost::serve(int fd) {
  if (fd == signals_.get()) return take_signals();
  if (fd == door_.get()) {
    Fd accepted(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC));
    if (accepted.get() >= 0) clients_.push_back({FrameChannel(std::move(accepted)), std::nullopt});
    return;
  }
  if (fd == script_output_.get()) {
    return pass_script_output(script_output_, STDOUT_FILENO, output_file_);
  }
  if (fd == script_error_.get()) {
    return pass_script_output(script_error_, STDERR_FILENO,
                              error_file_.get() < 0 ? output_file_ : error_file_);
  }
  for (Client& client : clients_) {
    if (client.channel.fd() != fd) continue;
    client.channel.flush();
    for (const Frame& frame : client.channel.receive()) on_client(client, frame);
    if (!client.channel.is_open() && client.step) kill_step(*client.step);
    return;
  }
  for (size_t peer = 0; peer < peers_.size(); ++peer) {
    FrameChannel& channel = peers_[peer].channel;
    if (channel.fd() != fd) continue;
    channel.flush();
    for (const Frame& frame : channel.receive()) on_peer(peer, frame);
    if (!channel.is_open() && !lost_) lost_.emplace(peers_[peer].node, channel.nonsense());
    return;
  }
  tasks_.on_ready(fd);
}

void BatchHost::take_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGTERM && lost_) is_ending_ = true;
    if (number != plan_.signal) continue;  // at the job's end hai signals every process anyway
    if (plan_.signal_script && script_ > 0) ::kill(script_, number);
    if (!plan_.signal_script) tasks_.signal(number);
  }
  for (EndedChild child; (child = take_ended_child()).pid > 0;) on_child(child);
}

void BatchHost::on_child(const EndedChild& child) {
  if (tasks_.on_exit(child) || child.pid != script_) return;
  script_ = 0;
  script_code_ = exit_code_of_wait(child.status);
}

void BatchHost::on_client(Client& client, const Frame& frame) {
  const bool is_typed = frame.kind == FrameKind::input || frame.kind == FrameKind::resize;
  if (is_typed && client.step) pass_to_terminal({frame.kind, *client.step, 0, frame.body});
  if (frame.kind == FrameKind::cancel) return on_cancel(client, frame);
  if (frame.kind != FrameKind::start || client.step) return;
  const uint32_t number = next_step_++;
  client.step = number;
  if (lost_) return;  // a refusal would let the script fail: it waits with the others
  const Result<StepRequest> request = decode_request(frame.body);
  const Status status = request.is_ok() ? start_step(request.value(), number) : request.status();
  if (!status.is_ok()) {
    client.channel.send({FrameKind::refused, number, 0, std::string(status.message())});
  }
}

// What is typed while the step still waits is for nobody.
void BatchHost::pass_to_terminal(const Frame& frame) {
  if (const Step* step = find_step(frame.step)) send_to_rank(step->ranks.front(), frame);
}

Status BatchHost::start_step(const StepRequest& request, uint32_t number) {
  const auto launches = resources_.place(number, request, plan_, names_);
  RETURN_IF_ERROR(launches.status());
  if (launches.value()) return launch_step(request, number, *launches.value());
  waiting_.push_back({number, request});
  tell_client(number, {FrameKind::waiting, number, 0, ""});
  return ok();
}

// In their order, but none holds up another that fits: an idle GPU would be the price.
void BatchHost::start_waiting_steps() {
  for (size_t i = 0; i < waiting_.size() && !lost_;) {
    const uint32_t number = waiting_[i].number;
    const auto launches = resources_.place(number, waiting_[i].request, plan_, names_);
    if (launches.is_ok() && !launches.value()) {
      ++i;
      continue;
    }
    const WaitingStep step = std::move(waiting_[i]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    const Status status =
        launches.is_ok() ? launch_step(step.request, number, *launches.value()) : launches.status();
    if (!status.is_ok()) {
      tell_client(number, {FrameKind::refused, number, 0, std::string(status.message())});
    }
  }
}

Status BatchHost::launch_step(const StepRequest& request, uint32_t number,
                              std::vector<RankLaunch> launches) {
  Step step = {.number = number, .kill_on_bad_exit = request.kill_on_bad_exit};
  const std::string space = request.mpi != 0 ? mpi_space(names_[0], number) : "";
  std::vector<int> counts;
  for (RankLaunch& part : launches) {
    part.launch.mpi_space = space;
    step.ranks.push_back(part.rank);
    counts.push_back(part.launch.node_tasks);
    step.tasks_left += part.launch.node_tasks;
    if (part.rank == 0) continue;
    const auto peer = static_cast<size_t>(part.rank - 1);
    if (peers_[peer].channel.is_open()) continue;
    resources_.release(number);
    return unavailable("node {} is gone", peers_[peer].node);
  }
  if (!space.empty() && step.tasks_left > kMpiTasksMax) {
    resources_.release(number);
    return invalid_argument("--mpi=pmix is for {} tasks at most, not {}", kMpiTasksMax,
                            step.tasks_left);
  }
  if (!space.empty()) step.mpi.emplace(std::move(counts));
  step.record = begun_record(request, number, launches);
  step.record.socket = directory_.socket();
  keep_record(record_of_begin(step.record));
  steps_.push_back(std::move(step));
  for (const RankLaunch& part : launches) {
    if (part.rank == 0) continue;
    peers_[static_cast<size_t>(part.rank - 1)].channel.send(
        {FrameKind::start, number, 0, encode_launch(part.launch)});
  }
  // Here last: a task may end at once, and with it the step.
  for (const RankLaunch& part : launches) {
    if (part.rank == 0) tasks_.start(number, part.launch);
  }
  return ok();
}

// Nothing depends on it: a step whose record cannot be kept runs as well.
void BatchHost::keep_record(const std::string& record) {
  if (is_record_broken_) return;
  const auto socket = rank_.find("HAI_SOCKET");
  is_record_broken_ = socket == rank_.end() || !keep_step_record(socket->second, record).is_ok();
}

void BatchHost::kill_step(uint32_t number) {
  std::erase_if(waiting_, [&](const WaitingStep& step) { return step.number == number; });
  tasks_.kill(number);
  for (Peer& peer : peers_) peer.channel.send({FrameKind::kill, number, 0, ""});
}

void BatchHost::on_peer(size_t peer, const Frame& frame) {
  if (frame.kind != FrameKind::resources) return on_rank(static_cast<int>(peer) + 1, frame);
  const Result<RankResources> resources = decode_resources(frame.body);
  if (resources.is_ok()) resources_.announce(peer + 1, resources.value());
  may_start_waiting_ = true;
}

void BatchHost::on_rank(int rank, const Frame& frame) {
  if (frame.kind == FrameKind::mpi) return on_mpi(rank, frame);
  on_task(frame, names_[static_cast<size_t>(rank)]);
  if (frame.kind == FrameKind::task_ended) check_left(frame.step, static_cast<int>(frame.task));
}

void BatchHost::send_to_rank(int rank, const Frame& frame) {
  if (rank > 0) return peers_[static_cast<size_t>(rank - 1)].channel.send(frame);
  if (frame.kind == FrameKind::input) tasks_.type(frame.step, frame.body);
  if (frame.kind == FrameKind::resize) tasks_.resize(frame.step, frame.body);
  if (frame.kind == FrameKind::mpi) tasks_.take_mpi(frame.step, frame.body);
}

BatchHost::Step* BatchHost::find_step(uint32_t number) {
  const auto step =
      std::find_if(steps_.begin(), steps_.end(), [&](const Step& s) { return s.number == number; });
  return step == steps_.end() ? nullptr : &*step;
}

void BatchHost::check_lost() {
  if (!lost_ || !lost_->should_end_programs()) return;
  tasks_.kill_all();
  if (script_ > 0) ::kill(-script_, SIGKILL);
}

void BatchHost::tell_client(uint32_t step, const Frame& frame) {
  for (Client& client : clients_) {
    if (client.step == step) client.channel.send(frame);
  }
  if (!own_output_) return;
  if (frame.kind == FrameKind::output || frame.kind == FrameKind::error_output) {
    own_output_->write(frame.task, frame.kind == FrameKind::error_output, frame.body);
  } else if (frame.kind == FrameKind::task_ended) {
    own_output_->finish(frame.task);
    const std::string line = describe_end(frame);
    if (!line.empty()) write_all(STDERR_FILENO, line);
  } else if (frame.kind == FrameKind::refused) {
    write_all(STDERR_FILENO, fmt::format("srun: error: {}\n", frame.body));
    own_code_ = 1;
  } else if (frame.kind == FrameKind::bye) {
    own_code_ = number_of(frame.body);
  }
}

void BatchHost::on_task(Frame frame, const std::string& node) {
  if (frame.kind != FrameKind::task_ended) return tell_client(frame.step, frame);
  const TaskEnd end = decode_task_end(frame.body);
  frame.body = fmt::format("{} {}", end.code, node);
  tell_client(frame.step, frame);
  if (Step* step = find_step(frame.step)) step->record.used.add(end.used);
  tasks_ended(frame.step, 1, end.code);
}

void BatchHost::tasks_ended(uint32_t number, int count, int code) {
  const auto step =
      std::find_if(steps_.begin(), steps_.end(), [&](const Step& s) { return s.number == number; });
  if (step == steps_.end()) return;
  step->tasks_left -= count;
  // Only the first failure counts then: the others were killed for it.
  const bool is_first = step->exit_code == 0;
  if (!step->kill_on_bad_exit || is_first) step->exit_code = std::max(step->exit_code, code);
  if (step->tasks_left <= 0) {
    const int all = step->exit_code;
    step->record.ended_at = wall_now();
    step->record.exit_code = all;
    keep_record(record_of_end(step->record));
    steps_.erase(step);
    resources_.release(number);
    may_start_waiting_ = true;
    tell_client(number, {FrameKind::bye, number, 0, std::to_string(all)});
  } else if (code != 0 && step->kill_on_bad_exit && is_first) {
    kill_step(number);
  }
}

bool BatchHost::is_done() const {
  if (lost_) return is_ending_ || lost_->should_give_up();
  return script_code_.has_value() || own_code_.has_value();
}

bool LostRank::should_end_programs() {
  if (has_ended_programs_ || mono_now() - since_ < 10s) return false;
  write_all(STDERR_FILENO, fmt::format("hai-slurm: error: {} is gone{}; waiting for hai to end "
                                       "this attempt\n",
                                       who_, why_.is_ok() ? "" : ": " + why_.message()));
  return has_ended_programs_ = true;
}

bool LostRank::should_give_up() const { return mono_now() - since_ > 10min; }

std::string describe_end(const Frame& frame) {
  const size_t blank = std::min(frame.body.find(' '), frame.body.size());
  const int code = number_of(frame.body);
  if (code == 0) return "";
  const std::string node = frame.body.substr(std::min(blank + 1, frame.body.size()));
  if (code > 128) {
    return fmt::format("srun: error: {}: task {}: {}\n", node, frame.task, ::strsignal(code - 128));
  }
  return fmt::format("srun: error: {}: task {}: Exited with exit code {}\n", node, frame.task,
                     code);
}

}  // namespace hai::cli::slurm
