#pragma once
// A WebSocket (RFC 6455) as its handler sees it. Any thread; callbacks come on the HTTP server's.

#include <functional>
#include <optional>
#include <string>

namespace hai {

struct SocketMessage {
  std::string bytes;
  bool is_text = false;  // UTF-8
};

class HttpSocket {
 public:
  static constexpr size_t kMessageBytesMax = 64 << 10;  // of the client's; more ends it

  virtual ~HttpSocket() = default;
  // The client's next message, or nullopt: it says no more. One at a time.
  virtual void read(std::function<void(std::optional<SocketMessage>)> done) = 0;
  // `done`: whether it was written. One at a time.
  virtual void write(SocketMessage message, std::function<void(bool)> done) = 0;
  // Says goodbye, waits for the client's and ends the connection. To be followed by cut() in time.
  virtual void close() = 0;
  // Ends the connection now, if it is not over.
  virtual void cut() = 0;
};

}  // namespace hai
