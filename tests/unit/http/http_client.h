#pragma once
// A blocking HTTP client on a plain socket, so that tests also say what no well-behaved client
// would.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace hai {

// One connection over loopback, whose addresses stand for other machines.
class HttpClient {
 public:
  explicit HttpClient(int port, uint32_t from = INADDR_LOOPBACK)
      : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    timeval timeout{.tv_sec = 10};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(from);
    ::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~HttpClient() { ::close(fd_); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  void send(const std::string& text) {
    size_t sent = 0;
    while (is_connected_ && sent < text.size()) {
      const ssize_t n = ::send(fd_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) break;
      sent += static_cast<size_t>(n);
    }
  }
  void half_close() { ::shutdown(fd_, SHUT_WR); }
  // Whether anything has come, or the server has closed.
  bool has_heard() const {
    char byte;
    return ::recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
  }
  // Waits for that.
  void hear() const {
    char byte;
    ::recv(fd_, &byte, 1, MSG_PEEK);
  }
  // Until `end` has come, the server closes, or 10 s pass.
  std::string read_until(const std::string& end = "") {
    std::string answer;
    char buffer[65536];
    while (is_connected_) {
      const ssize_t n = ::recv(fd_, buffer, sizeof(buffer), 0);
      if (n <= 0) break;
      const size_t seen = answer.size() - std::min(answer.size(), end.size());
      answer.append(buffer, static_cast<size_t>(n));
      if (!end.empty() && answer.find(end, seen) != std::string::npos) break;
    }
    return answer;
  }

 private:
  int fd_;
  bool is_connected_ = false;
};

// Sends `text` as it is and reads until the server closes, `until` has been seen, or 10 s pass.
// With `half_close` it says that nothing more will come, so that the server waits for no more
// either.
inline std::string http_exchange(int port, const std::string& text, const std::string& until = "",
                                 bool half_close = false) {
  HttpClient client(port);
  client.send(text);
  if (half_close) client.half_close();
  return client.read_until(until);
}

inline std::string http_get(int port, const std::string& path, const std::string& headers = "") {
  return http_exchange(
      port, "GET " + path + " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n" + headers + "\r\n");
}

}  // namespace hai
