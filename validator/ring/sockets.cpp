#include "validator/ring/sockets.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace hai::validator {

namespace {

constexpr size_t kLineBytesMax = 4096;
constexpr int kRetryMs = 50;
constexpr size_t kTransferBytesMax = 4 << 20;

void make_ready(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Status wait_for(int fd, short events, const Deadline& deadline) {
  pollfd polled{fd, events, 0};
  while (true) {
    const int ready = ::poll(&polled, 1, deadline.left_ms());
    if (ready > 0) return ok();
    if (ready == 0) return deadline_exceeded("no answer in time");
    if (errno != EINTR) return unavailable("poll: {}", errno_text(errno));
  }
}

Result<UniqueFd> try_connect(const addrinfo& target, const Deadline& deadline) {
  UniqueFd fd(::socket(target.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return unavailable("socket: {}", errno_text(errno));
  if (::connect(fd.get(), target.ai_addr, target.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return unavailable("{}", errno_text(errno));
    RETURN_IF_ERROR(wait_for(fd.get(), POLLOUT, deadline));
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return unavailable("{}", errno_text(error));
  }
  make_ready(fd.get());
  return fd;
}

Result<UniqueFd> bound_socket(int family, int port) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.is_open()) return unavailable("socket: {}", errno_text(errno));
  const int on = 1, off = 0;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in6 six{};
  sockaddr_in four{};
  int bound;
  if (family == AF_INET6) {
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);  // IPv4 too
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(static_cast<uint16_t>(port));
    bound = ::bind(fd.get(), reinterpret_cast<sockaddr*>(&six), sizeof six);
  } else {
    four.sin_family = AF_INET;
    four.sin_port = htons(static_cast<uint16_t>(port));
    bound = ::bind(fd.get(), reinterpret_cast<sockaddr*>(&four), sizeof four);
  }
  if (bound != 0 || ::listen(fd.get(), 256) != 0)
    return unavailable("cannot listen on port {}: {}", port, errno_text(errno));
  return fd;
}

}  // namespace

int Deadline::left_ms() const {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(end_ - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000'000));
}

Result<Listener> listen_on(int port) {
  Result<UniqueFd> fd = bound_socket(AF_INET6, port);
  if (!fd.is_ok()) fd = bound_socket(AF_INET, port);  // a kernel without IPv6
  if (!fd.is_ok()) return fd.status();
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(fd.value().get(), reinterpret_cast<sockaddr*>(&address), &size);
  const in_port_t bound = address.ss_family == AF_INET6
                              ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                              : reinterpret_cast<sockaddr_in*>(&address)->sin_port;
  return Listener{std::move(fd).value(), ntohs(bound)};
}

Result<UniqueFd> accept_one(const Listener& listener, const Deadline& deadline) {
  while (true) {
    RETURN_IF_ERROR(wait_for(listener.fd.get(), POLLIN, deadline));
    UniqueFd fd(::accept4(listener.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (fd.is_open()) {
      make_ready(fd.get());
      return fd;
    }
    // Whoever came may be gone already.
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
      return unavailable("accept: {}", errno_text(errno));
  }
}

Result<UniqueFd> connect_to(const std::string& address, int port, const Deadline& deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  while (true) {
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> targets(found, [](addrinfo* list) {
      if (list != nullptr) ::freeaddrinfo(list);
    });
    Status last = unavailable("{}", error == 0 ? "no address" : ::gai_strerror(error));
    for (const addrinfo* target = found; target != nullptr; target = target->ai_next) {
      Result<UniqueFd> fd = try_connect(*target, deadline);
      if (fd.is_ok()) return fd;
      last = fd.status();
    }
    if (deadline.is_over()) return unavailable("{} port {}: {}", address, port, last.message());
    ::poll(nullptr, 0, std::min(kRetryMs, deadline.left_ms()));
  }
}

std::string peer_address(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char host[NI_MAXHOST] = {};
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof host, nullptr, 0,
                    NI_NUMERICHOST) != 0)
    return {};
  return host;
}

Result<std::string> read_line(int fd, const Deadline& deadline) {
  std::string line;
  while (line.size() < kLineBytesMax) {
    char byte = 0;
    const ssize_t got = ::recv(fd, &byte, 1, 0);
    if (got == 1) {
      if (byte == '\n') return line;
      line += byte;
    } else if (got == 0) {
      return unavailable("the other side closed the connection");
    } else if (errno == EAGAIN) {
      RETURN_IF_ERROR(wait_for(fd, POLLIN, deadline));
    } else if (errno != EINTR) {
      return unavailable("{}", errno_text(errno));
    }
  }
  return invalid_argument("a line of more than {} bytes", kLineBytesMax);
}

Status write_all(int fd, std::string_view text, const Deadline& deadline) {
  return exchange({.to = fd, .send = text.data(), .send_bytes = text.size()}, deadline);
}

Status exchange(Exchange step, const Deadline& deadline) {
  while (step.send_bytes > 0 || step.receive_bytes > 0) {
    pollfd polled[2] = {{step.send_bytes > 0 ? step.to : -1, POLLOUT, 0},
                        {step.receive_bytes > 0 ? step.from : -1, POLLIN, 0}};
    const int ready = ::poll(polled, 2, deadline.left_ms());
    if (ready < 0 && errno != EINTR) return unavailable("poll: {}", errno_text(errno));
    if (ready == 0) {
      return deadline_exceeded("no byte {} in time", step.receive_bytes > 0
                                                         ? "came from the rank before"
                                                         : "was taken by the rank after");
    }
    if (ready > 0 && polled[0].revents != 0) {
      const ssize_t sent =
          ::send(step.to, step.send, std::min(step.send_bytes, kTransferBytesMax), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return unavailable("to the rank after: {}", errno_text(errno));
      if (sent > 0) step.send += sent, step.send_bytes -= static_cast<size_t>(sent);
    }
    if (ready > 0 && polled[1].revents != 0) {
      const ssize_t got =
          ::recv(step.from, step.receive, std::min(step.receive_bytes, kTransferBytesMax), 0);
      if (got == 0) return unavailable("the rank before closed the connection");
      if (got < 0 && errno != EAGAIN && errno != EINTR)
        return unavailable("from the rank before: {}", errno_text(errno));
      if (got > 0) step.receive += got, step.receive_bytes -= static_cast<size_t>(got);
    }
  }
  return ok();
}

}  // namespace hai::validator
