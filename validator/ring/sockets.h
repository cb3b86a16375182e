#pragma once
// TCP with deadlines, for the few connections of a ring.

#include <string>
#include <utility>

#include "agent/os/files.h"
#include "common/status.h"
#include "common/time.h"

namespace hai::validator {

// When patience ends; everything that waits takes it.
class Deadline {
 public:
  explicit Deadline(Duration patience) : end_(std::chrono::steady_clock::now() + patience) {}
  int left_ms() const;  // >= 0, for poll()
  Duration left() const { return std::chrono::milliseconds(left_ms()); }
  bool is_over() const { return left_ms() == 0; }

 private:
  std::chrono::steady_clock::time_point end_;
};

struct Listener {
  UniqueFd fd;
  int port = 0;
};
Result<Listener> listen_on(int port);  // 0 = any free one; on all addresses
Result<UniqueFd> accept_one(const Listener& listener, const Deadline& deadline);
// Tries again until the deadline: the other side may not be there yet.
Result<UniqueFd> connect_to(const std::string& address, int port, const Deadline& deadline);
std::string peer_address(int fd);  // numeric

// A line without its end, of at most 4096 bytes; reads not a byte more.
Result<std::string> read_line(int fd, const Deadline& deadline);
Status write_all(int fd, std::string_view text, const Deadline& deadline);

// Sends and receives at once, so that a ring in which everybody sends first does not stand still.
struct Exchange {
  int to = -1;
  const char* send = nullptr;
  size_t send_bytes = 0;
  int from = -1;
  char* receive = nullptr;
  size_t receive_bytes = 0;
};
Status exchange(Exchange step, const Deadline& deadline);

}  // namespace hai::validator
