#include "cli/slurm/step/client.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/slurm/step/frame.h"
#include "cli/slurm/step/host.h"

namespace hai::cli::slurm {
namespace {

int complain(const std::string& text) {
  write_all(STDERR_FILENO, fmt::format("srun: error: {}\n", text));
  return 1;
}

}  // namespace

int run_step(const std::string& socket, const StepRequest& request, OutputWriter::Options output) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.copy(address.sun_path, sizeof address.sun_path - 1);
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return complain(fmt::format("the job's first rank does not answer at {}: {}", socket,
                                std::strerror(errno)));
  }
  FrameChannel channel(std::move(fd));
  channel.send({FrameKind::start, 0, 0, encode_request(request)});
  OutputWriter writer(std::move(output));
  while (channel.is_open()) {
    const short events = static_cast<short>(POLLIN | (channel.backlog() > 0 ? POLLOUT : 0));
    pollfd poll = {channel.fd(), events, 0};
    ::poll(&poll, 1, -1);
    channel.flush();
    for (const Frame& frame : channel.receive()) {
      switch (frame.kind) {
        case FrameKind::output:
        case FrameKind::error_output:
          writer.write(frame.task, frame.kind == FrameKind::error_output, frame.body);
          break;
        case FrameKind::task_ended:
          writer.finish(frame.task);
          write_all(STDERR_FILENO, describe_end(frame));
          break;
        case FrameKind::refused:
          return complain(frame.body);
        case FrameKind::bye:
          return std::atoi(frame.body.c_str());
        case FrameKind::waiting:
          write_all(STDERR_FILENO,
                    "srun: Job step creation temporarily disabled, retrying (Requested nodes are "
                    "busy)\n");
          break;
        case FrameKind::start:
        case FrameKind::kill:
        case FrameKind::resources:
        case FrameKind::signal:
          break;
      }
    }
  }
  return complain("the job's first rank is gone");
}

}  // namespace hai::cli::slurm
