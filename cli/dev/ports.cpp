#include "cli/dev/ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "common/tls/tls_client.h"

namespace hai::cli {
namespace {

constexpr int kLowest = 20'000;
constexpr int kCount = 12'000;  // ephemeral ports start at 32,768
constexpr int kTriesMax = 200;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

template <typename Use>
bool with_socket(int port, const Use& use) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const sockaddr_in address = loopback(port);
  const bool done = use(fd, reinterpret_cast<const sockaddr*>(&address));
  close(fd);
  return done;
}

constexpr size_t kHeadBytes = 12;  // "HTTP/1.1 200"
constexpr size_t kAnswerBytesMax = 64 << 10;

std::string ask_plain(int port, const std::string& request) {
  std::array<char, kHeadBytes> head{};
  const bool has_answered = with_socket(port, [&](int fd, const sockaddr* address) {
    const timeval limit{.tv_sec = 1, .tv_usec = 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (connect(fd, address, sizeof(sockaddr_in)) != 0) return false;
    if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) return false;
    return recv(fd, head.data(), head.size(), MSG_WAITALL) == static_cast<ssize_t>(head.size());
  });
  return has_answered ? std::string(head.data(), head.size()) : "";
}

std::string ask_tls(int port, const std::string& request, const TlsTexts& tls) {
  Result<std::unique_ptr<TlsClient>> client = TlsClient::connect(
      {.address = fmt::format("127.0.0.1:{}", port), .texts = tls, .timeout = 1s});
  if (!client.is_ok() || !client.value()->send(request).is_ok()) return "";
  Result<std::string> answer = client.value()->read_all(kAnswerBytesMax);
  return answer.is_ok() ? std::move(answer).value() : "";
}

int status_of(const std::string& answer) {
  int status = 0;
  return std::sscanf(answer.c_str(), "HTTP/1.%*c %d", &status) == 1 ? status : 0;
}

}  // namespace

bool is_free(int port) {
  return with_socket(port, [](int fd, const sockaddr* address) {
    const int on = 1;  // a port that was just closed is free
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    return bind(fd, address, sizeof(sockaddr_in)) == 0 && listen(fd, 1) == 0;
  });
}

int http_status(int port, const std::string& path, const TlsTexts& tls) {
  const std::string request =
      fmt::format("GET {} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", path);
  return tls.ca.empty() ? status_of(ask_plain(port, request))
                        : status_of(ask_tls(port, request, tls));
}

Result<int> find_free_port(int not_this) {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    uint32_t random = 0;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random)) break;
    const int port = kLowest + static_cast<int>(random % kCount);
    if (port != not_this && is_free(port)) return port;
  }
  return resource_exhausted("no free port between {} and {} found", kLowest, kLowest + kCount - 1);
}

}  // namespace hai::cli
