#include "common/tcp_dial.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>

#include "common/host_port.h"

namespace hai {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

struct Found {
  Addresses addresses{nullptr, &::freeaddrinfo};
  int error = 0;
};

Found look_up(const HostPort& to) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = is_address(to.host) ? AI_NUMERICHOST : 0;
  addrinfo* first = nullptr;
  Found found;
  found.error = ::getaddrinfo(to.host.c_str(), to.port.c_str(), &hints, &first);
  if (found.error == 0) found.addresses.reset(first);
  return found;
}

// getaddrinfo() waits as long as the machine's resolver pleases, so it waits on a thread that
// nobody waits for. None if it was not done by the deadline.
std::optional<Found> look_up_until(const HostPort& to, Deadline deadline) {
  if (is_address(to.host)) return look_up(to);
  std::packaged_task<Found()> task([to] { return look_up(to); });
  std::future<Found> found = task.get_future();
  try {
    std::thread(std::move(task)).detach();
  } catch (const std::system_error&) {  // As many threads as the system allows.
    return std::nullopt;
  }
  if (found.wait_until(deadline) != std::future_status::ready) return std::nullopt;
  return found.get();
}

// 0, or the error.
int connect_until(const TcpSocket& socket, const addrinfo& to, Deadline deadline) {
  if (::connect(socket.descriptor(), to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_ready(socket, POLLOUT, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof(error);
  ::getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

}  // namespace

TcpSocket::~TcpSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<TcpSocket> dial_tcp(const HostPort& to, Deadline deadline) {
  const std::string address = to.host + ":" + to.port;
  const std::optional<Found> found = look_up_until(to, deadline);
  if (!found) return unavailable("{}: nobody said in time what the name stands for", address);
  if (found->error != 0) return unavailable("{}: {}", address, ::gai_strerror(found->error));
  int error = 0;
  for (const addrinfo* at = found->addresses.get(); at != nullptr; at = at->ai_next) {
    TcpSocket socket(
        ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol));
    error = socket.descriptor() < 0 ? errno : connect_until(socket, *at, deadline);
    if (error == 0) return socket;
  }
  return unavailable("{}: {}", address, std::strerror(error));
}

bool wait_ready(const TcpSocket& socket, short events, Deadline deadline) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waiting{.fd = socket.descriptor(), .events = events, .revents = 0};
    const int ready = ::poll(&waiting, 1, std::max<int>(0, static_cast<int>(left.count())));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return false;
  }
}

}  // namespace hai
