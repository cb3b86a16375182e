#pragma once
// One end of somebody's way into a rank, whatever it is carried by: a stream of gRPC or a
// WebSocket. On the loop's thread. One message at a time each way: who reads the next one only when
// the last has been written to the other end holds back whoever writes faster than the other reads.

#include <functional>

#include "common/status.h"
#include "hai/v1/shell.pb.h"

namespace hai {

class ShellPeer {
 public:
  struct Events {
    std::function<void(v1::ShellMessage)> message;
    // The other side sends nothing any more, or is gone.
    std::function<void()> ended;
    // Exactly once, last.
    std::function<void()> done;
  };

  virtual ~ShellPeer() = default;
  virtual void read_next() = 0;
  // `written` is called when it is, unless the peer is gone first. One at a time.
  virtual void send(v1::ShellMessage message, std::function<void()> written) = 0;
  // After what is being sent. The first call counts.
  virtual void finish(const Status& status) = 0;
};

}  // namespace hai
