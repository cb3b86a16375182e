#pragma once
// Accepts gRPC's connections in its place: Debian's gRPC accepts without a limit, and when the
// process has no file descriptor left its listener is gone for good (CVE-2023-4785). When there are
// many, a connection is handed over with its first byte only: one that says nothing costs gRPC
// nothing. Before, at once: a client that is busy elsewhere may take 5 s to say something, and by
// then wants to have heard from the server. When all places are taken, the oldest connection that
// has proved nothing goes (connection_table.h).

#include <functional>
#include <memory>
#include <string>

#include "common/status.h"
#include "common/time.h"
#include "server/rpc/connection_table.h"

namespace hai {

struct ListenerLimits {
  ConnectionLimits connections;
  size_t at_once = 10'000;  // up to so many are handed over as they come
  size_t silent = 1'000;    // more, that have said nothing yet; the oldest makes room for another
  Duration silent_time = 10s;
  // Whether connections that have proved nothing end soon, because nobody can prove anything here
  // now. Asked on the listener's thread; null = they never do.
  std::function<bool()> strangers_end_soon = nullptr;
  Duration stranger_look = 1s;  // how often it is asked; a stranger's connection lives five to six
};

class GrpcListener {
 public:
  // Takes over a non-blocking socket; called on the listener's thread.
  using HandOver = std::function<void(int listener_fd, int fd)>;

  // Binds `address` (host:port, port 0 for any); accepts once `accept` was called. `known` is whose
  // connections stay when there are too many; null = nobody's.
  static Result<std::unique_ptr<GrpcListener>> open(const std::string& address,
                                                    ListenerLimits limits,
                                                    std::shared_ptr<KnownPeers> known = nullptr);
  ~GrpcListener();  // stops

  int port() const;
  void accept(HandOver hand_over);
  // Why whoever comes now is not let in, in one sentence; "" = all is well. From any thread.
  std::string trouble() const;
  // Returns when nothing is handed over any more.
  void stop();

 private:
  struct Impl;
  explicit GrpcListener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hai
