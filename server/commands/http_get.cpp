#include "server/commands/http_get.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "common/tls/tls_client.h"

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

Result<std::string> ask_plain(const std::string& server, const std::string& request) {
  Socket socket;
  const size_t colon = server.rfind(':');
  RETURN_IF_ERROR(dial(server.substr(0, colon), server.substr(colon + 1), socket));
  return converse(socket.descriptor, request);
}

Result<std::string> ask_tls(const std::string& server, const std::string& ca,
                            const std::string& request) {
  Result<TlsTexts> texts = read_tls_files({.ca = ca.empty() ? kSystemCa : ca});
  if (!texts.is_ok()) return texts.status();
  Result<std::unique_ptr<TlsClient>> client =
      TlsClient::connect({.address = server, .texts = std::move(texts).value(), .timeout = 30s});
  if (!client.is_ok()) return client.status();
  RETURN_IF_ERROR(client.value()->send(request));
  return client.value()->read_all(kAnswerBytesMax);
}

}  // namespace

Result<std::string> http_get(const HttpQuestion& question) {
  std::string server = question.server;
  constexpr std::string_view kPlain = "http://";
  constexpr std::string_view kTls = "https://";
  const bool is_tls = server.starts_with(kTls);
  if (is_tls) server.erase(0, kTls.size());
  if (server.starts_with(kPlain)) server.erase(0, kPlain.size());
  server = server.substr(0, server.find('/'));
  const size_t colon = server.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return invalid_argument("'{}': write host:port, http://host:port or https://host:port",
                            question.server);
  }
  // 1.0: the answer ends with the connection, and comes in one piece.
  const std::string request =
      fmt::format("GET {} HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
                  question.target, server, question.token);
  const Result<std::string> answer =
      is_tls ? ask_tls(server, question.ca, request) : ask_plain(server, request);
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
