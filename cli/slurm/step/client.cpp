#include "cli/slurm/step/client.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "cli/raw_terminal.h"
#include "cli/slurm/step/frame.h"
#include "cli/slurm/step/host.h"

namespace hai::cli::slurm {
namespace {

int complain(const std::string& text) {
  write_all(STDERR_FILENO, fmt::format("srun: error: {}\n", text));
  return 1;
}

Result<Fd> connect_to_host(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.copy(address.sun_path, sizeof address.sun_path - 1);
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  return unavailable("the job's first rank does not answer at {}: {}", socket,
                     std::strerror(errno));
}

// The terminal of srun, while a task elsewhere has it.
class Typing {
 public:
  explicit Typing(FrameChannel& channel) : channel_(channel) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
    resized_ = Fd(ends[0]);
    resizes_ = Fd(ends[1]);
    tell_of_resize(resizes_.get());
  }
  ~Typing() { tell_of_resize(-1); }
  Typing(const Typing&) = delete;
  Typing& operator=(const Typing&) = delete;

  pollfd keys() const { return {has_ended_ ? -1 : STDIN_FILENO, POLLIN, 0}; }
  pollfd resized() const { return {resized_.get(), POLLIN, 0}; }

  void pass_keys() {
    char keys[4'096];
    const ssize_t count = ::read(STDIN_FILENO, keys, sizeof keys);
    if (count > 0) {
      channel_.send({FrameKind::input, 0, 0, std::string(keys, static_cast<size_t>(count))});
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      has_ended_ = true;
    }
  }
  void pass_size() {
    char signs[64];
    while (::read(resized_.get(), signs, sizeof signs) > 0) continue;
    const winsize window = window_size(STDIN_FILENO);
    channel_.send({FrameKind::resize, 0, 0, fmt::format("{} {}", window.ws_row, window.ws_col)});
  }

 private:
  FrameChannel& channel_;
  const RawTerminal raw_;
  Fd resized_;
  Fd resizes_;
  bool has_ended_ = false;
};

}  // namespace

int run_step(const std::string& socket, const StepRequest& request, OutputWriter::Options output) {
  Result<Fd> fd = connect_to_host(socket);
  if (!fd.is_ok()) return complain(std::string(fd.status().message()));
  FrameChannel channel(std::move(fd.value()));
  channel.send({FrameKind::start, 0, 0, encode_request(request)});
  OutputWriter writer(std::move(output));
  std::optional<Typing> typing;
  if (request.terminal.is_wanted != 0) typing.emplace(channel);
  while (channel.is_open()) {
    const short events = static_cast<short>(POLLIN | (channel.backlog() > 0 ? POLLOUT : 0));
    pollfd polls[] = {{channel.fd(), events, 0},
                      typing ? typing->keys() : pollfd{-1, 0, 0},
                      typing ? typing->resized() : pollfd{-1, 0, 0}};
    if (::poll(polls, std::size(polls), -1) < 0) continue;
    if (polls[1].revents != 0) typing->pass_keys();
    if (polls[2].revents != 0) typing->pass_size();
    channel.flush();
    for (const Frame& frame : channel.receive()) {
      switch (frame.kind) {
        case FrameKind::output:
        case FrameKind::error_output:
          writer.write(frame.task, frame.kind == FrameKind::error_output, frame.body);
          break;
        case FrameKind::task_ended:
          typing.reset();  // it was its only task; what follows is for a plain terminal
          writer.finish(frame.task);
          write_all(STDERR_FILENO, describe_end(frame));
          break;
        case FrameKind::refused:
          typing.reset();
          return complain(frame.body);
        case FrameKind::bye:
          return std::atoi(frame.body.c_str());
        case FrameKind::waiting:
          write_all(STDERR_FILENO,
                    fmt::format("srun: Job step creation temporarily disabled, retrying (Requested "
                                "nodes are busy){}\n",
                                typing ? "\r" : ""));
          break;
        case FrameKind::start:
        case FrameKind::kill:
        case FrameKind::resources:
        case FrameKind::signal:
        case FrameKind::input:
        case FrameKind::resize:
        case FrameKind::mpi:
        case FrameKind::cancel:
          break;
      }
    }
  }
  typing.reset();
  return complain("the job's first rank is gone");
}

Status cancel_step(const std::string& socket, uint32_t step, int signal) {
  Result<Fd> fd = connect_to_host(socket);
  RETURN_IF_ERROR(fd.status());
  FrameChannel channel(std::move(fd.value()));
  channel.send({FrameKind::cancel, step, 0, signal == 0 ? "" : std::to_string(signal)});
  while (channel.is_open()) {
    const short events = static_cast<short>(POLLIN | (channel.backlog() > 0 ? POLLOUT : 0));
    pollfd poll = {channel.fd(), events, 0};
    if (::poll(&poll, 1, -1) < 0) continue;
    channel.flush();
    for (const Frame& frame : channel.receive()) {
      if (frame.kind == FrameKind::refused) return failed_precondition("{}", frame.body);
      if (frame.kind == FrameKind::bye) return ok();
    }
  }
  return unavailable("the job's first rank is gone");
}

int run_cancel_step(const std::vector<std::string>& words) {
  const auto number = [&](size_t at) { return std::atoi(words[at].c_str()); };
  const Status status = words.size() == 3
                            ? cancel_step(words[0], static_cast<uint32_t>(number(1)), number(2))
                            : invalid_argument("SOCKET STEP SIGNAL");
  if (status.is_ok()) return 0;
  write_all(STDERR_FILENO, fmt::format("{}\n", status.message()));
  return 1;
}

}  // namespace hai::cli::slurm
