#pragma once
// A TCP connection that never blocks longer than its user wants: everything that waits, waits until
// one deadline, however often the other side says a byte.

#include <chrono>
#include <string>
#include <utility>

#include "common/host_port.h"
#include "common/status.h"
#include "common/time.h"

namespace hai {

using Deadline = std::chrono::steady_clock::time_point;

inline Deadline deadline_after(Duration patience) {
  return std::chrono::steady_clock::now() + patience;
}

class TcpSocket {
 public:
  explicit TcpSocket(int descriptor = -1) : descriptor_(descriptor) {}
  TcpSocket(TcpSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  TcpSocket& operator=(TcpSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~TcpSocket();
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// A connection that does not block; looks the name up, too. `unavailable` if nobody
// answers there in time.
Result<TcpSocket> dial_tcp(const HostPort& to, Deadline deadline);

// Until the socket is ready for `events` (POLLIN, POLLOUT); false when the deadline came first.
bool wait_ready(const TcpSocket& socket, short events, Deadline deadline);

}  // namespace hai
