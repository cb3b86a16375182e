#pragma once
// The agent's connection to the leading server: one gRPC stream at a time, on a channel of its own.
// Tries the servers of the config and those that it was told of in turn until one accepts the
// hello, and again when the stream ends, with jittered backoff. Lives on the loop's thread; gRPC's
// threads only post to it.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/core/log_source.h"
#include "agent/core/ports.h"
#include "agent/rpc/reason_seeker.h"
#include "common/loop.h"
#include "common/rng.h"
#include "common/shell_messages.h"
#include "common/tls/peer_keys.h"
#include "common/tls/tls_files.h"

namespace hai {

class LogWaiter;
class PlacesCodec;
class ServerStream;
struct ServerStreamEvents;

struct ServerLinkOptions {
  std::vector<std::string> servers;       // host:port, at least one; of the config
  std::vector<std::string> told_servers;  // by the cluster, earlier
  std::string agent_token;
  std::string node;
  AgentIdentity identity;
  // Whom to believe and what to prove by, asked for each try: what was replaced holds from the next
  // one on.
  std::function<Result<TlsTexts>()> tls = [] { return TlsTexts{}; };
  // Hears of other servers than those that were told last.
  std::function<void(const std::vector<std::string>&)> told_of_servers =
      [](const std::vector<std::string>&) {};
  // Told of keys that come over a stream.
  std::function<void(const PeerKeys&)> peer_keys = [](const PeerKeys&) {};
  // Somebody wants into a rank: to be answered at that server, over a stream that proves as much.
  std::function<void(const std::string& server, const TlsTexts&, const ShellRequest&)> open_shell =
      [](const std::string&, const TlsTexts&, const ShellRequest&) {};
  Duration backoff_min = 100ms;  // and ten times as long at most after an accepted stream has ended
  // While `hurry` lasts, from the end of a stream that worked, ranks may depend on our being heard:
  // a server that leads for two seconds only must not be missed by a few nodes (docs/design/0005).
  Duration hurry = 60s;  // longer than agent_lease and what follows until the fence
  Duration backoff_max_in_hurry = 1s;
  Duration backoff_max = 5s;  // afterwards
  // A server that has not accepted by then is given up. At first after a fifth of that, then later
  // and later: one that is stopped must not keep us from the one that leads.
  Duration connect_timeout = 5s;
  Duration keepalive = 5s;  // ping a silent server; without an answer for as long: broken
  uint64_t seed = 1;        // of the jitter
  std::shared_ptr<PlacesCodec> codec;  // links of one loop may share one; null = its own
};

class GrpcServerLink final : public ServerLink {
 public:
  GrpcServerLink(Loop& loop, LogSource& logs, ServerLinkOptions options);
  ~GrpcServerLink() override;  // ends the stream and waits for gRPC to let go of it

  void start(Listener listener) override;
  void send(const AgentReport& report) override;

 private:
  void connect();
  void retry_later(bool was_accepted);
  Duration longest_pause() const;
  Duration patience() const;  // with a server that does not accept
  void take_servers(const std::vector<std::string>& told);
  std::string server_after(const std::string& server) const;
  void stream_accepted();
  void stream_done(const Status& status);
  void log_end(bool was_accepted, const Status& status);
  void log_refusal(const std::string& server, const Status& why);
  void seek_reason(const Status& status);
  void answer_log(int64_t request_id, const LogRequest& request);
  ServerStreamEvents make_events();

  Loop& loop_;
  ServerLinkOptions options_;
  std::vector<std::string> servers_;  // all that may be tried
  std::string server_;                // the present one, or the next
  Rng rng_;
  Listener listener_;
  std::unique_ptr<LogWaiter> log_waiter_;
  std::shared_ptr<ServerStream> stream_;  // the only one; null while waiting to retry
  // The one before, kept until the next has begun: gRPC ends its threads with the last channel, and
  // ending and starting them on each try would hold up the loop.
  std::shared_ptr<ServerStream> previous_stream_;
  bool accepted_ = false;
  int failures_ = 0;        // since a server last worked with us
  MonoTime alone_since_{};  // the first of them
  ReasonSeeker reason_seeker_;
  TlsTexts tls_;       // of the present try
  Status refusal_;     // as last logged: what a person has to mend
  TimerId timer_ = 0;  // retry or connect timeout
};

}  // namespace hai
