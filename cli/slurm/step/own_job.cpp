#include "cli/slurm/step/own_job.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/slurm/step/fd.h"
#include "cli/slurm/step/output_writer.h"

namespace hai::cli::slurm {
namespace {

using ShimAnswer = nlohmann::json;

Result<ShimAnswer> ask_shim(const std::string& socket, const ShimAnswer& request) {
  constexpr size_t kAnswerBytesMax = 1u << 20;
  const std::string operation = request.value("op", "");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socket.copy(address.sun_path, sizeof address.sun_path - 1);
  const Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience = {.tv_sec = 5, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return unavailable("{}: {}", socket, std::strerror(errno));
  }
  write_all(fd.get(), request.dump() + "\n");
  std::string line;
  char buffer[4'096];
  while (line.find('\n') == std::string::npos && line.size() < kAnswerBytesMax) {
    const ssize_t count = ::recv(fd.get(), buffer, sizeof buffer, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return unavailable("{}: no answer to {}", socket, operation);
    line.append(buffer, static_cast<size_t>(count));
  }
  ShimAnswer answer = ShimAnswer::parse(line, nullptr, /*allow_exceptions=*/false);
  if (answer.is_object() && answer.value("ok", ShimAnswer()) == true) return answer;
  return unavailable("{}: {} was refused: {}", socket, operation, line.substr(0, 200));
}

}  // namespace

Result<bool> is_asked_to_leave(const std::string& socket) {
  const Result<ShimAnswer> answer = ask_shim(socket, {{"op", "receive_suspend_command"}});
  RETURN_IF_ERROR(answer.status());
  return answer.value().value("suspend", ShimAnswer()) == true;
}

Status leave_now(const std::string& socket) {
  return ask_shim(socket, {{"op", "go_suspend"}}).status();
}

Status keep_step_record(const std::string& socket, const std::string& record) {
  ShimAnswer line = ShimAnswer::parse(record, nullptr, /*allow_exceptions=*/false);
  return ask_shim(socket, {{"op", "record_step"}, {"record", std::move(line)}}).status();
}

}  // namespace hai::cli::slurm
