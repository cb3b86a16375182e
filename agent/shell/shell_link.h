#pragma once
// The agent's stream for one shell (proto/hai/v1/shell.proto), on a connection of its own: whatever
// goes over it never delays orders and reports. All methods and events are on the loop's thread.

#include <functional>
#include <memory>
#include <string>

#include "common/loop.h"
#include "common/tls/tls_files.h"

namespace hai {

namespace v1 {  // include hai/v1/shell.pb.h where it is used
class ShellMessage;
}  // namespace v1

struct ShellLinkOptions {
  std::string server;  // host:port, the one that asked
  std::string agent_token;
  TlsTexts tls;
  std::string ticket;
};

struct ShellLinkEvents {
  std::function<void(const v1::ShellMessage&)> message;
  std::function<void()> done;  // exactly once, unless close_and_wait comes first
};

class ShellLink {
 public:
  static std::shared_ptr<ShellLink> open(Loop& loop, const ShellLinkOptions& options,
                                         ShellLinkEvents events);
  virtual ~ShellLink() = default;

  virtual void read_next() = 0;
  // `written` is called when it is, unless the link ends first. One at a time.
  virtual void send(const v1::ShellMessage& message, std::function<void()> written) = 0;
  // Ends it; `done` follows. Idempotent.
  virtual void close() = 0;
  // Ends it without any further event; returns when gRPC's threads no longer know it.
  virtual void close_and_wait() = 0;
};

}  // namespace hai
