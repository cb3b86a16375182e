#include "cli/slurm/step/peer.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <cstdlib>

#include "cli/slurm/step/host.h"
#include "cli/slurm/step/step_resources.h"
#include "cli/slurm/step/task_runner.h"

namespace hai::cli::slurm {
namespace {

constexpr size_t kBacklogBytesMax = 1u << 20;

class PeerLoop {
 public:
  PeerLoop(FrameChannel channel, EnvironmentMap rank, int signal)
      : channel_(std::move(channel)),
        signal_(signal),
        signals_(take_over_signals()),
        resources_(encode_resources(resources_of(rank))),
        tasks_(std::move(rank), [this](const Frame& frame) { channel_.send(frame); }) {}

  int run() {
    channel_.send({FrameKind::resources, 0, 0, resources_});
    while (!code_) {
      std::vector<pollfd> polls = {{signals_.get(), POLLIN, 0}};
      const short output = channel_.backlog() > 0 ? POLLOUT : 0;
      if (channel_.is_open()) {
        polls.push_back({channel_.fd(), static_cast<short>(POLLIN | output), 0});
      }
      if (channel_.backlog() < kBacklogBytesMax) tasks_.add_polls(polls);
      if (::poll(polls.data(), polls.size(), lost_ ? 1'000 : -1) < 0) continue;
      for (const pollfd& poll : polls) {
        if (poll.revents != 0) serve(poll.fd);
      }
      if (lost_ && lost_->should_end_programs()) tasks_.kill_all();
      if (lost_ && lost_->should_give_up()) code_ = 1;
    }
    tasks_.kill_all();
    return *code_;
  }

 private:
  void serve(int fd) {
    if (fd == signals_.get()) return take_signals();
    if (fd != channel_.fd()) return tasks_.on_ready(fd);
    channel_.flush();
    for (const Frame& frame : channel_.receive()) {
      if (frame.kind == FrameKind::bye) code_ = 0;
      if (frame.kind == FrameKind::kill) kill(frame);
      if (frame.kind == FrameKind::input) tasks_.type(frame.step, frame.body);
      if (frame.kind == FrameKind::resize) tasks_.resize(frame.step, frame.body);
      if (frame.kind == FrameKind::mpi) tasks_.take_mpi(frame.step, frame.body);
      if (frame.kind == FrameKind::signal) tasks_.signal(std::atoi(frame.body.c_str()));
      if (frame.kind != FrameKind::start) continue;
      const Result<StepLaunch> launch = decode_launch(frame.body);
      if (launch.is_ok()) tasks_.start(frame.step, launch.value());
    }
    if (!channel_.is_open() && !code_ && !lost_) {
      lost_.emplace("the job's first rank", channel_.nonsense());
    }
  }

  void kill(const Frame& frame) {
    if (frame.body.empty()) return tasks_.kill(frame.step);
    tasks_.signal(frame.step, std::atoi(frame.body.c_str()));
  }

  void take_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      const int number = static_cast<int>(info.ssi_signo);
      if (number == signal_) {
        tasks_.signal(number);
      } else if (number == SIGTERM) {
        is_ending_ = true;  // so have the tasks been told
      }
    }
    for (EndedChild child; (child = take_ended_child()).pid > 0;) tasks_.on_exit(child);
    if (is_ending_ && tasks_.is_idle() && !code_) code_ = 128 + SIGTERM;
  }

  FrameChannel channel_;
  const int signal_;
  Fd signals_;
  const std::string resources_;
  TaskRunner tasks_;
  bool is_ending_ = false;
  std::optional<LostRank> lost_;
  std::optional<int> code_;
};

}  // namespace

int run_peer(FrameChannel channel, EnvironmentMap rank, int signal) {
  return PeerLoop(std::move(channel), std::move(rank), signal).run();
}

}  // namespace hai::cli::slurm
