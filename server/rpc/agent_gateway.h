#pragma once
// All agents' streams: admits them, gives each a ConnectionId, and carries orders and log requests
// to them. On the loop's thread. A node may for a moment have two connections (its agent came back
// before the old stream was noticed to be broken); log requests go to the newest.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/tls/order_proofs.h"
#include "server/api/log_limit.h"
#include "server/api/log_router.h"
#include "server/control/ports.h"
#include "server/rpc/agent_stream.h"
#include "server/rpc/connect_pace.h"
#include "server/rpc/shell_port.h"

namespace hai {

// What the gateway tells; the composition root ties it to the controller.
struct AgentGatewayEvents {
  // Whether a certificate of the node that begins then is believed: asked of every hello with one,
  // and again by look_again().
  std::function<Status(const std::string& node, UnixTime begins)> believe =
      [](const std::string&, UnixTime) { return ok(); };
  // Whether it is an agent of this cluster at all: asked first, and of every hello.
  std::function<Status(const AgentHello&)> prove = [](const AgentHello&) { return ok(); };
  // Whether to work with this agent; its error is what the agent logs.
  std::function<Status(const AgentHello&)> admit;
  // Whether the answer may be another in a moment, because the server is about to lead: then the
  // agent waits here. A thousand that are sent away come back again and again, just when the server
  // has most to do.
  std::function<bool()> is_undecided = [] { return false; };
  std::function<void(ConnectionId, const AgentHello&)> connected;
  std::function<void(ConnectionId, const AgentReport&)> report;
  // Gives a launch that is about to be sent the values of its secrets (api/launch_secrets.h).
  std::function<void(LaunchRank&)> open_secrets;
  std::function<void(ConnectionId)> disconnected;
  std::function<void(ConnectionId, int64_t request_id, const LogChunk&)> log_chunk;
  // Somebody who has not proved to be an agent was sent away; on any thread. What he says of
  // himself may be a lie: "" where he has said nothing, or where it is not known.
  std::function<void(const std::string& node, const std::string& address, const Status& why)>
      stranger = [](const std::string&, const std::string&, const Status&) {};
};

class AgentGateway final : public AgentPort, public LogPort, public ShellPort {
 public:
  static constexpr size_t kRefusalsMax = 20'000;  // nodes whose refusal is said once only

  explicit AgentGateway(ProtocolRange protocols = kProtocols) : protocols_(protocols) {}

  // Set once, before the first stream.
  void set_events(AgentGatewayEvents events) { events_ = std::move(events); }

  // Of which the keys of nodes and their peers are made; given to those who have proved by a
  // certificate which node they are, so that nobody gets another's. And by which is proved what
  // nodes say they were told: without it all of them are believed. Set once, before the first
  // stream.
  void set_peer_secret(std::string secret) {
    proofs_.emplace(secret);
    peer_secret_ = std::make_shared<const std::string>(std::move(secret));
  }

  // Of somebody who has not proved to be an agent of this cluster: written now and then only, since
  // anybody can come again and again, under ever new names. On any thread.
  void note_stranger(const std::string& node, const std::string& address, const Status& why);

  // All servers of the cluster as agents reach them: every agent is told, now and when it comes.
  void set_servers(const std::vector<std::string>& addresses);

  // A new stream that has not said hello; the result is what it shall call.
  AgentStream::Events opened(std::shared_ptr<AgentStream> stream);

  // Accepts or refuses the streams that wait, once it is known whether this server leads.
  void decide_waiting();

  // Ends the streams whose certificates are not believed any more.
  void look_again();

  // Unknown connections are ignored: their stream has just ended.
  void send(ConnectionId connection, const AgentOrder& order) override;
  void close(ConnectionId connection, const std::string& reason) override;
  ConnectionId send_log_request(const std::string& node, int64_t request_id,
                                const LogRequest& request) override;
  bool send_shell_request(const std::string& node, const ShellRequest& request) override;

  // When leadership is lost or the server stops: agents look for another server.
  void close_all(const Status& reason);
  size_t connection_count() const { return connections_.size(); }
  size_t waiting_count() const { return waiting_.size(); }

 private:
  struct Connection {
    std::shared_ptr<AgentStream> stream;
    std::string node;
  };
  void said_hello(ConnectionId id, const std::shared_ptr<AgentStream>& stream,
                  const AgentHello& hello);
  Status judge(const AgentStream& stream, const AgentHello& hello) const;
  Status judge_certificate(const AgentStream& stream, const std::string& node) const;
  void note_refusal(const AgentHello& hello, const Status& why);
  void reported(ConnectionId id, AgentReport report);
  void ended(ConnectionId id);

  const ProtocolRange protocols_;
  AgentGatewayEvents events_;
  std::shared_ptr<const std::string> peer_secret_;  // null = none
  std::optional<OrderProofs> proofs_;
  PlacesCodec codec_;
  std::map<ConnectionId, Connection> connections_;  // admitted ones
  std::map<std::string, ConnectionId> newest_;      // by node
  LogLimit strangers_{10};
  ConnectPace pace_;
  std::vector<std::string> servers_;
  std::map<std::string, Status> refused_;  // by node, why last: an agent asks again and again
  struct Waiting {
    ConnectionId id;
    std::shared_ptr<AgentStream> stream;
    AgentHello hello;
  };
  std::vector<Waiting> waiting_;
  int64_t last_id_ = 0;
};

}  // namespace hai
