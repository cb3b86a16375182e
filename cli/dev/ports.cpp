#include "cli/dev/ports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

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

}  // namespace

bool is_free(int port) {
  return with_socket(port, [](int fd, const sockaddr* address) {
    const int on = 1;  // a port that was just closed is free
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    return bind(fd, address, sizeof(sockaddr_in)) == 0 && listen(fd, 1) == 0;
  });
}

bool listens(int port) {
  return with_socket(port, [](int fd, const sockaddr* address) {
    return connect(fd, address, sizeof(sockaddr_in)) == 0;
  });
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
