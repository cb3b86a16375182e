#pragma once
// The gRPC side of AgentStream: gRPC's threads only post; everything else is on the loop's thread.
// Owns itself until gRPC is done with it.

#include <deque>
#include <memory>
#include <optional>

#include "common/loop.h"
#include "hai/v1/agent.grpc.pb.h"
#include "server/rpc/agent_stream.h"
#include "server/rpc/known_peers.h"
#include "server/rpc/tls_credentials.h"

namespace hai {

class AgentReactor final : public AgentStream,
                           public grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>,
                           public std::enable_shared_from_this<AgentReactor> {
 public:
  // `place`: one of those for agents that have not proved yet who they are, given back with the
  // hello; null for others. `known` may be null.
  AgentReactor(Loop& loop, grpc::CallbackServerContext& context, bool wants_certificate,
               std::shared_ptr<void> place, KnownPeers* known)
      : loop_(loop),
        context_(context),
        peer_(context.peer()),
        nodes_(nodes_of(*context.auth_context())),
        certificate_begins_(begins_of(*context.auth_context())),
        wants_certificate_(wants_certificate),
        place_(std::move(place)),
        known_(known) {}

  // On a gRPC thread, at once after construction; `opened` is called on the loop's thread and gives
  // the stream its events.
  void begin(std::function<Events(std::shared_ptr<AgentStream>)> opened);

  Status check_is(const std::string& node) const override;
  std::optional<UnixTime> certificate_begins() const override { return certificate_begins_; }
  void give_peer_keys(std::shared_ptr<const std::string> secret, const std::string& node) override {
    peer_secret_ = std::move(secret);
    node_ = node;
  }
  void accept(int protocol) override;
  void send(const AgentOrder& order, PlacesCodec& codec) override;
  void send(int64_t request_id, const LogRequest& request) override;
  void send(const ShellRequest& request) override;
  void name_servers(const std::vector<std::string>& addresses) override;
  void close(const Status& reason) override;
  void cut(const Status& reason) override;

  // gRPC's threads
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  // With its size: a message that was moved knows nothing of it (GetCachedSize() is not moved).
  struct Outgoing {
    v1::ServerMessage message;
    size_t bytes;
  };

  void post(std::function<void()> callback);
  void received();
  void handle_hello(const v1::AgentMessage& message);
  void handle(const v1::AgentMessage& message);
  void add_peer_keys(v1::NamePeers& message) const;
  void enqueue(v1::ServerMessage message);
  void write_soon();
  void write_next();
  size_t take_first(v1::ServerMessage& message);
  void take_orders_along(size_t bytes);
  void drop_outbox();
  void finish();

  Loop& loop_;
  grpc::CallbackServerContext& context_;  // gRPC's; valid until OnDone
  const std::string peer_;
  const std::vector<std::string> nodes_;  // that its certificate names
  const std::optional<UnixTime> certificate_begins_;
  const bool wants_certificate_;
  std::shared_ptr<const std::string> peer_secret_;  // null = no keys are given
  std::string node_;                                // whose the keys are
  std::shared_ptr<void> place_;
  KnownPeers* const known_;
  std::shared_ptr<AgentReactor> self_;  // gRPC's share, given back in OnDone
  Events events_;
  v1::AgentMessage reading_;
  v1::ServerMessage writing_;
  std::deque<Outgoing> outbox_;
  size_t outbox_bytes_ = 0;
  std::optional<Status> end_;  // why it ends; set once
  TimerId timer_ = 0;          // hello or drain timeout
  bool said_hello_ = false;
  bool accepted_ = false;
  int protocol_ = kProtocols.oldest;  // that both go on in
  bool write_in_flight_ = false;
  bool write_posted_ = false;
  bool finished_ = false;
};

}  // namespace hai
