#include "server/commands/http_get.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

namespace hai {
namespace {

constexpr size_t kAnswerBytesMax = 1 << 20;
constexpr timeval kTimeout{.tv_sec = 30, .tv_usec = 0};

struct Socket {
  int descriptor = -1;
  ~Socket() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

Status dial(const std::string& host, const std::string& port, Socket& socket) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
    return unavailable("{}:{}: {}", host, port, ::gai_strerror(error));
  }
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    socket.descriptor = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (socket.descriptor < 0) continue;
    ::setsockopt(socket.descriptor, SOL_SOCKET, SO_RCVTIMEO, &kTimeout, sizeof(kTimeout));
    ::setsockopt(socket.descriptor, SOL_SOCKET, SO_SNDTIMEO, &kTimeout, sizeof(kTimeout));
    if (::connect(socket.descriptor, at->ai_addr, at->ai_addrlen) == 0) return ok();
    ::close(std::exchange(socket.descriptor, -1));
  }
  return unavailable("{}:{}: {}", host, port, std::strerror(errno));
}

Result<std::string> converse(int descriptor, std::string_view request) {
  while (!request.empty()) {
    const ssize_t sent = ::send(descriptor, request.data(), request.size(), MSG_NOSIGNAL);
    if (sent <= 0) return unavailable("can't be asked: {}", std::strerror(errno));
    request.remove_prefix(static_cast<size_t>(sent));
  }
  std::string answer;
  char chunk[4096];
  while (answer.size() < kAnswerBytesMax) {
    const ssize_t got = ::recv(descriptor, chunk, sizeof(chunk), 0);
    if (got < 0) return unavailable("no answer: {}", std::strerror(errno));
    if (got == 0) break;
    answer.append(chunk, static_cast<size_t>(got));
  }
  return answer;
}

}  // namespace

Result<std::string> http_get(const HttpQuestion& question) {
  std::string server = question.server;
  constexpr std::string_view kScheme = "http://";
  if (server.starts_with(kScheme)) server.erase(0, kScheme.size());
  server = server.substr(0, server.find('/'));
  const size_t colon = server.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return invalid_argument("'{}': write host:port or http://host:port", question.server);
  }
  Socket socket;
  RETURN_IF_ERROR(dial(server.substr(0, colon), server.substr(colon + 1), socket));
  // 1.0: the answer ends with the connection, and comes in one piece.
  Result<std::string> answer =
      converse(socket.descriptor,
               fmt::format("GET {} HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
                           question.target, server, question.token));
  if (!answer.is_ok()) return answer.status();
  const std::string& text = answer.value();
  const size_t head_end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.") || head_end == std::string::npos) {
    return unavailable("{}: no HTTP server answers there", server);
  }
  std::string body = text.substr(head_end + 4);
  if (text.substr(8, 5) == " 200 ") return body;
  return unavailable("{}{}: {}: {}", server, question.target, text.substr(9, text.find('\r') - 9),
                     body);
}

}  // namespace hai
