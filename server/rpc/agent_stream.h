#pragma once
// One agent's stream on the server. Methods and events are on the loop's thread. Nothing is sent
// before accept(); the first message must be a hello and come in time, or the stream is cut.
//
//   opened ──hello──▶ hello event ──accept()──▶ accepted: messages both ways ──▶ done
//      └────────────────────── refuse(), close(), cut() or the agent ────────────▲
//
// The outbox is bounded: an agent that does not read is cut, not waited for; it comes back and gets
// what then should be.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/agent_messages.h"
#include "common/log_messages.h"
#include "common/shell_messages.h"
#include "common/status.h"
#include "proto/convert/agent_convert.h"

namespace hai {

class AgentStream {
 public:
  static constexpr size_t kOutboxMax = 4'096;           // messages
  static constexpr size_t kTogetherBytesMax = 1 << 20;  // of orders that share a message
  static constexpr size_t kOutboxBytesMax = 64 << 20;
  static constexpr Duration kHelloTimeout = 10s;
  static constexpr Duration kDrainTimeout = 2s;

  struct Events {
    std::function<void(const AgentHello&)> hello;
    std::function<void(AgentReport)> report;
    std::function<void(int64_t request_id, const LogChunk&)> log_chunk;
    std::function<void()> done;  // called exactly once, last; also if the stream was refused
  };

  virtual ~AgentStream() = default;
  // Whether whoever is at the other end has proved to be this node, if he is asked to.
  virtual Status check_is(const std::string& /*node*/) const { return ok(); }
  // When the certificate that he has shown begins; nothing if he showed none.
  virtual std::optional<UnixTime> certificate_begins() const { return std::nullopt; }
  // From then on each NamePeers has the keys of its peers, made from this secret for that node.
  virtual void give_peer_keys(std::shared_ptr<const std::string> /*secret*/,
                              const std::string& /*node*/) {}
  // Tells the agent in which version of the protocol both go on.
  virtual void accept(int protocol) = 0;
  // `codec` is the one of all streams of this thread.
  virtual void send(const AgentOrder& order, PlacesCodec& codec) = 0;
  virtual void send(int64_t request_id, const LogRequest& request) = 0;
  virtual void send(const ShellRequest& request) = 0;
  virtual void name_servers(const std::vector<std::string>& addresses) = 0;
  // Sends what is queued, at most kDrainTimeout long, and ends the stream with this status.
  virtual void close(const Status& reason) = 0;
  // Ends it at once, without what is queued.
  virtual void cut(const Status& reason) { close(reason); }
};

}  // namespace hai
