#include "agent/rpc/server_stream.h"

#include <grpcpp/grpcpp.h>

#include <deque>
#include <future>
#include <optional>

#include "agent/rpc/take_over.h"
#include "common/log.h"
#include "common/whole_number.h"
#include "hai/v1/agent.grpc.pb.h"
#include "proto/convert/channel_credentials.h"
#include "proto/convert/shell_convert.h"

namespace hai {

namespace {

std::shared_ptr<grpc::Channel> make_channel(const ServerStreamOptions& options) {
  const int keepalive_ms = static_cast<int>(options.keepalive.count() / 1000);
  grpc::ChannelArguments arguments;
  // Otherwise all channels of a process to one server would share one TCP connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A node's http_proxy is for other programs.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, keepalive_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, keepalive_ms);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  return grpc::CreateCustomChannel(options.server, channel_credentials(options.tls), arguments);
}

PeerKeys keys_in(const v1::NamePeers& message) {
  PeerKeys keys{.own = message.own_key()};
  for (const v1::Peer& peer : message.peers()) keys.peers[peer.node()] = peer.key();
  return keys;
}

Status end_of_stream(const grpc::Status& status) {
  if (status.ok()) return unavailable("the server ended the stream");
  return {static_cast<Code>(status.error_code()), status.error_message()};
}

// gRPC's threads only decode and post; every member below `loop_` belongs to the loop's thread,
// except what the one outstanding read, write or call uses.
class GrpcServerStream final : public ServerStream,
                               public grpc::ClientBidiReactor<v1::AgentMessage, v1::ServerMessage>,
                               public std::enable_shared_from_this<GrpcServerStream> {
 public:
  GrpcServerStream(Loop& loop, const ServerStreamOptions& options, ServerStreamEvents events)
      : loop_(loop),
        events_(std::move(events)),
        codec_(options.codec),
        protocols_(options.hello.protocols),
        channel_(make_channel(options)),
        stub_(v1::AgentService::NewStub(channel_)) {
    to_proto(options.hello, *writing_.mutable_hello());
  }

  void begin() {
    self_ = shared_from_this();  // gRPC's share, given back in OnDone
    // Before any message: who proves who he is by then is read without a limit on how many.
    const std::string& token = writing_.hello().agent_token();
    if (!token.empty()) context_.AddMetadata("authorization", "Bearer " + token);
    stub_->async()->Connect(&context_, this);
    AddHold();  // Reads and writes are started from the loop, outside of gRPC's callbacks.
    write_in_flight_ = true;
    StartWrite(&writing_);
    StartRead(&reading_);
    StartCall();
  }

  void send_report(const AgentReport& report) override {
    AgentReport next = report;
    if (report_) take_over(*report_, next);
    report_ = std::move(next);
    write_next();
  }

  void send_log_chunk(int64_t request_id, const LogChunk& chunk) override {
    if (log_chunks_.size() >= kMaxLogChunks) {
      log_warning("log_chunk_dropped", {{"request", request_id}, {"waiting", log_chunks_.size()}});
      return;
    }
    log_chunks_.emplace_back(request_id, chunk);
    write_next();
  }

  void close() override {
    context_.TryCancel();
    release();
  }

  void close_and_wait() override {
    events_ = {};
    silent_ = true;
    close();
    done_->get_future().wait();
  }

  // ---- gRPC's threads

  void OnReadInitialMetadataDone(bool ok) override {
    if (!ok) return;
    const int protocol = named_protocol();
    post([this, protocol] {
      if (protocols_.contains(protocol)) return accepted();
      const bool is_newer = protocol > protocols_.newest;
      end_for(failed_precondition(
          "the server speaks protocol {}, this agent {}: upgrade the package hai-{} on {}",
          protocol, to_string(protocols_), is_newer ? "agent" : "server",
          is_newer ? "this node" : "the servers"));
    });
  }

  void OnReadDone(bool ok) override {
    post([this, ok] {
      if (ok) {
        received();
      } else {
        release();  // The server ended it; its reason comes with OnDone.
      }
    });
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return;  // The stream is broken: reading ends it, after the server's last words.
    post([this] {
      write_in_flight_ = false;
      write_next();
    });
  }

  void OnDone(const grpc::Status& status) override {
    const Status end = end_of_stream(status);
    // The last share must go on the loop's thread: with it goes the channel, and gRPC then joins
    // the very threads that call us here. After the post, `this` may be gone.
    std::shared_ptr<std::promise<void>> done = done_;
    loop_.post([self = std::move(self_), end] {
      if (!self->silent_) self->events_.done(self->ended_for_.is_ok() ? end : self->ended_for_);
    });
    done->set_value();
  }

 private:
  void post(std::function<void()> callback) {
    loop_.post([self = shared_from_this(), callback = std::move(callback)] { callback(); });
  }

  int named_protocol() const {
    const auto& metadata = context_.GetServerInitialMetadata();
    const auto named = metadata.find(kProtocolMetadata);
    if (named == metadata.end()) return 1;
    const std::string text(named->second.data(), named->second.size());
    return whole_number<int>(text).value_or(0);
  }

  // gRPC's two threads may deliver the first message before the acceptance it follows.
  void accepted() {
    if (silent_ || std::exchange(accepted_, true)) return;
    events_.accepted();
  }

  // The next read starts only now: a message that the loop has not seen holds back the server.
  void received() {
    if (released_) return;
    accepted();
    handle(reading_);
    if (released_) return;
    reading_.Clear();
    StartRead(&reading_);
  }

  void handle(const v1::ServerMessage& message) {
    switch (message.body_case()) {
      case v1::ServerMessage::kOrder: {
        handle(message.order());
        for (const v1::AgentOrder& order : message.more_orders()) {
          if (!released_) handle(order);
        }
        return;
      }
      case v1::ServerMessage::kReadLog: {
        Result<LogRequest> request = from_proto(message.read_log());
        if (!request.is_ok()) return reject(request.status());
        events_.read_log(message.read_log().request_id(), request.value());
        return;
      }
      case v1::ServerMessage::kOpenShell: {
        Result<ShellRequest> request = from_proto(message.open_shell());
        if (!request.is_ok()) return reject(request.status());
        return events_.open_shell(request.value());
      }
      case v1::ServerMessage::kServers: {
        const auto& addresses = message.servers().addresses();
        return events_.servers({addresses.begin(), addresses.end()});
      }
      case v1::ServerMessage::BODY_NOT_SET:
        return;  // Of a newer server: not for us.
    }
  }

  void handle(const v1::AgentOrder& message) {
    Result<AgentOrder> order = from_proto(message, *codec_);
    if (!order.is_ok()) return reject(order.status());
    if (message.has_name_peers() && !message.name_peers().own_key().empty()) {
      events_.peer_keys(keys_in(message.name_peers()));
    }
    events_.order(order.value());
  }

  void reject(const Status& status) {
    log_warning("server_message_refused", {{"reason", status}});
    end_for(invalid_argument("the server sent what cannot be understood"));
  }

  // We end the stream, and for this reason.
  void end_for(const Status& why) {
    ended_for_ = why;
    close();
  }

  void write_next() {
    if (write_in_flight_ || released_) return;
    writing_.Clear();
    if (report_) {
      to_proto(*report_, *writing_.mutable_report());
      next_life_state_ = fit_life_states(*writing_.mutable_report(), next_life_state_);
      report_.reset();
    } else if (!log_chunks_.empty()) {
      to_proto(log_chunks_.front().first, log_chunks_.front().second,
               *writing_.mutable_log_chunk());
      log_chunks_.pop_front();
    } else {
      return;
    }
    write_in_flight_ = true;
    StartWrite(&writing_);
  }

  // After this nothing is started any more, so gRPC may finish with OnDone.
  void release() {
    if (std::exchange(released_, true)) return;
    RemoveHold();
  }

  Loop& loop_;
  ServerStreamEvents events_;
  const std::shared_ptr<PlacesCodec> codec_;
  const ProtocolRange protocols_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::AgentService::Stub> stub_;
  grpc::ClientContext context_;
  std::shared_ptr<GrpcServerStream> self_;
  v1::AgentMessage writing_;
  v1::ServerMessage reading_;
  bool accepted_ = false;
  bool write_in_flight_ = false;
  bool released_ = false;
  bool silent_ = false;
  std::optional<AgentReport> report_;
  int next_life_state_ = 0;  // the rank whose turn it is, where a report cannot hold those of all
  std::deque<std::pair<int64_t, LogChunk>> log_chunks_;
  Status ended_for_;  // ok = not by us
  std::shared_ptr<std::promise<void>> done_ = std::make_shared<std::promise<void>>();
};

}  // namespace

std::shared_ptr<ServerStream> ServerStream::open(Loop& loop, const ServerStreamOptions& options,
                                                 ServerStreamEvents events) {
  auto stream = std::make_shared<GrpcServerStream>(loop, options, std::move(events));
  stream->begin();
  return stream;
}

}  // namespace hai
