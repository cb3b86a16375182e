#pragma once
// A blocking HTTP client on a plain socket, so that tests also say what no well-behaved client
// would.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>

namespace hai {

// Sends `text` as it is and reads until the server closes, `until` has been seen, or 10 s pass.
// With `half_close` it says that nothing more will come, so that the server waits for no more
// either.
inline std::string http_exchange(int port, const std::string& text, const std::string& until = "",
                                 bool half_close = false) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  timeval timeout{.tv_sec = 10};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) {
    size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t n = ::send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) break;
      sent += static_cast<size_t>(n);
    }
    if (half_close) ::shutdown(fd, SHUT_WR);
    char buffer[65536];
    while (until.empty() || answer.find(until) == std::string::npos) {
      const ssize_t n = ::recv(fd, buffer, sizeof(buffer), 0);
      if (n <= 0) break;
      answer.append(buffer, static_cast<size_t>(n));
    }
  }
  ::close(fd);
  return answer;
}

inline std::string http_get(int port, const std::string& path, const std::string& headers = "") {
  return http_exchange(
      port, "GET " + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n" + headers + "\r\n");
}

}  // namespace hai
