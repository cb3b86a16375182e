// hai-slurm-pmix: the PMIx server of one node's part of one step. Started by hai-slurm, of which
// its standard output is a socket; ends when that closes. A program of its own, so that only who
// uses MPI needs the library, and what goes wrong in that ends one step and nothing else.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "cli/slurm/pmix/server.h"
#include "cli/slurm/step/frame.h"

namespace hai::cli::slurm {
namespace {

class PmixProgram {
 public:
  explicit PmixProgram(FrameChannel channel) : channel_(std::move(channel)) {}

  int run() {
    while (channel_.is_open() && !has_failed_) {
      const short output = channel_.backlog() > 0 ? POLLOUT : 0;
      pollfd polls[] = {{channel_.fd(), static_cast<short>(POLLIN | output), 0},
                        {server_ ? server_->wake_fd() : -1, POLLIN, 0}};
      if (::poll(polls, 2, -1) < 0) continue;
      channel_.flush();
      for (const Frame& frame : channel_.receive()) take(frame);
      if (!server_) continue;
      for (const MpiMessage& message : server_->take_messages()) tell(message);
    }
    channel_.flush_and_close();
    return has_failed_ ? 1 : 0;
  }

 private:
  void take(const Frame& frame) {
    const Result<MpiMessage> message = decode_mpi(frame.body);
    if (!message.is_ok()) return fail(message.status());
    if (message.value().kind != MpiKind::setup) {
      if (server_) server_->take(message.value());
      return;
    }
    step_ = frame.step;
    Result<MpiSetup> setup = decode_setup(message.value().data);
    if (!setup.is_ok()) return fail(setup.status());
    server_.emplace(std::move(setup.value()));
    if (const Status status = server_->start(); !status.is_ok()) return fail(status);
    const auto variables = server_->task_variables();
    if (!variables.is_ok()) return fail(variables.status());
    std::vector<std::string> packed;
    for (const std::vector<std::string>& task : variables.value()) packed.push_back(pack(task));
    tell({.kind = MpiKind::ready, .data = pack(packed)});
  }

  void tell(const MpiMessage& message) {
    if (message.data.size() > kMpiBytesMax) {
      return fail(resource_exhausted("MPI's tasks say more than {} bytes at once", kMpiBytesMax));
    }
    channel_.send({FrameKind::mpi, step_, 0, encode_mpi(message)});
  }

  void fail(const Status& status) {
    channel_.send({FrameKind::mpi, step_, 0,
                   encode_mpi({.kind = MpiKind::failed, .data = std::string(status.message())})});
    has_failed_ = true;
  }

  FrameChannel channel_;
  std::optional<PmixServer> server_;
  uint32_t step_ = 0;
  bool has_failed_ = false;
};

int run() {
  // Signals are for the tasks, which may need it while they save; it ends after them.
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  // What the library prints must not go into the socket.
  Fd socket(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  return PmixProgram(FrameChannel(std::move(socket))).run();
}

}  // namespace
}  // namespace hai::cli::slurm

int main() { return hai::cli::slurm::run(); }
