#include "server/commands/http_get.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "common/host_port.h"
#include "common/tcp_dial.h"
#include "common/tls/tls_client.h"

namespace hai {
namespace {

constexpr size_t kAnswerBytesMax = 1 << 20;
constexpr Duration kPatience = 30s;

Result<std::string> ask_plain(const std::string& server, std::string_view request) {
  const Deadline deadline = deadline_after(kPatience);
  Result<TcpSocket> dialled = dial_tcp(split_host_port(server), deadline);
  RETURN_IF_ERROR(dialled.status());
  const TcpSocket socket = std::move(dialled).value();
  while (!request.empty()) {
    const ssize_t sent =
        ::send(socket.descriptor(), request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) request.remove_prefix(static_cast<size_t>(sent));
    if (sent < 0 && errno != EAGAIN) return unavailable("can't be asked: {}", std::strerror(errno));
    if (!request.empty() && !wait_ready(socket, POLLOUT, deadline)) break;
  }
  std::string answer;
  char chunk[4096];
  while (answer.size() < kAnswerBytesMax) {
    if (!wait_ready(socket, POLLIN, deadline)) {
      return unavailable("{}: no answer within {}", server, format_duration(kPatience));
    }
    const ssize_t got = ::recv(socket.descriptor(), chunk, sizeof(chunk), 0);
    if (got < 0) return unavailable("no answer: {}", std::strerror(errno));
    if (got == 0) break;
    answer.append(chunk, static_cast<size_t>(got));
  }
  return answer;
}

Result<std::string> ask_tls(const std::string& server, const std::string& ca,
                            const std::string& request) {
  Result<TlsTexts> texts = read_tls_files({.ca = ca.empty() ? kSystemCa : ca});
  if (!texts.is_ok()) return texts.status();
  Result<std::unique_ptr<TlsClient>> client = TlsClient::connect(
      {.address = server, .texts = std::move(texts).value(), .timeout = kPatience});
  if (!client.is_ok()) return client.status();
  RETURN_IF_ERROR(client.value()->send(request));
  return client.value()->read_all(kAnswerBytesMax);
}

}  // namespace

Result<std::string> http_get(const HttpQuestion& question) {
  std::string server = question.server;
  constexpr std::string_view kPlain = "http://";
  constexpr std::string_view kTls = "https://";
  const bool is_plain = server.starts_with(kPlain);
  if (is_plain && !question.ca.empty()) {
    return invalid_argument(
        "'{}' is plain text, and a CA is for https://: the token would be read "
        "on the way",
        question.server);
  }
  const bool is_tls = server.starts_with(kTls) || !question.ca.empty();
  if (server.starts_with(kTls)) server.erase(0, kTls.size());
  if (is_plain) server.erase(0, kPlain.size());
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
