#pragma once
// One stream to one server, from dialling to its end; never reused. All methods and events are on
// the loop's thread. Order of events: accepted (at most once), then order and read_log, then done
// (exactly once, unless close_and_wait comes first).
//
//   dialling ──server accepts hello──▶ accepted ──either side ends it──▶ done
//       └──────────────refused, unreachable or close()─────────────────────▲
//
// The outbox is bounded by what it holds: the newest report only (they are level-triggered), and
// one chunk per log request, of which kMaxLogChunks may wait.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/agent_messages.h"
#include "common/log_messages.h"
#include "common/loop.h"
#include "common/shell_messages.h"
#include "common/status.h"
#include "common/tls/peer_keys.h"
#include "common/tls/tls_files.h"
#include "proto/convert/agent_convert.h"

namespace hai {

struct ServerStreamOptions {
  std::string server;  // host:port
  AgentHello hello;
  TlsTexts tls;
  Duration keepalive{0};
  std::shared_ptr<PlacesCodec> codec;  // may be shared by streams of one thread; never null
};

struct ServerStreamEvents {
  std::function<void()> accepted;
  std::function<void(const AgentOrder&)> order;
  // Before the order that names the peers whose keys they are.
  std::function<void(const PeerKeys&)> peer_keys = [](const PeerKeys&) {};
  // Of all servers of the cluster.
  std::function<void(const std::vector<std::string>&)> servers =
      [](const std::vector<std::string>&) {};
  std::function<void(int64_t request_id, const LogRequest&)> read_log;
  std::function<void(const ShellRequest&)> open_shell = [](const ShellRequest&) {};
  std::function<void(const Status&)> done;
};

class ServerStream {
 public:
  static constexpr size_t kMaxLogChunks = 64;

  static std::shared_ptr<ServerStream> open(Loop& loop, const ServerStreamOptions& options,
                                            ServerStreamEvents events);
  virtual ~ServerStream() = default;

  virtual void send_report(const AgentReport& report) = 0;
  // Beyond kMaxLogChunks waiting the chunk is dropped: the server's request times out.
  virtual void send_log_chunk(int64_t request_id, const LogChunk& chunk) = 0;
  // Ends the stream; `done` follows. Idempotent.
  virtual void close() = 0;
  // Ends it without any further event; returns when gRPC's threads no longer know it.
  virtual void close_and_wait() = 0;
};

}  // namespace hai
