#include "server/rpc/agent_reactor.h"

#include "common/log.h"
#include "common/tls/peer_keys.h"
#include "proto/convert/shell_convert.h"
#include "server/rpc/status_map.h"

namespace hai {
void AgentReactor::begin(std::function<Events(std::shared_ptr<AgentStream>)> opened) {
  self_ = shared_from_this();
  post([this, opened = std::move(opened)] {
    events_ = opened(shared_from_this());
    timer_ = loop_.call_after(kHelloTimeout, [this] {
      timer_ = 0;
      cut(deadline_exceeded("no hello within {}", format_duration(kHelloTimeout)));
    });
    StartRead(&reading_);
  });
}

Status AgentReactor::check_is(const std::string& node) const {
  return wants_certificate_ ? check_is_node(nodes_, node) : ok();
}

void AgentReactor::accept(int protocol) {
  if (accepted_ || finished_) return;
  accepted_ = true;
  protocol_ = protocol;
  if (known_ != nullptr) known_->note(peer_);
  context_.AddInitialMetadata(kProtocolMetadata, std::to_string(protocol));
  StartSendInitialMetadata();  // Tells the agent that it is accepted, before any order.
  write_next();
}

void AgentReactor::send(const AgentOrder& order, PlacesCodec& codec) {
  v1::ServerMessage message;
  to_proto(order, protocol_, codec, *message.mutable_order());
  if (peer_secret_ && message.order().has_name_peers()) {
    add_peer_keys(*message.mutable_order()->mutable_name_peers());
  }
  enqueue(std::move(message));
}

void AgentReactor::add_peer_keys(v1::NamePeers& message) const {
  message.set_own_key(peer_key_of_node(*peer_secret_, node_));
  for (v1::Peer& peer : *message.mutable_peers()) {
    peer.set_key(peer_key_of_pair(peer_key_of_node(*peer_secret_, peer.node()), node_));
  }
}

void AgentReactor::send(int64_t request_id, const LogRequest& request) {
  v1::ServerMessage message;
  to_proto(request_id, request, *message.mutable_read_log());
  enqueue(std::move(message));
}

void AgentReactor::send(const ShellRequest& request) {
  v1::ServerMessage message;
  to_proto(request, *message.mutable_open_shell());
  enqueue(std::move(message));
}

void AgentReactor::name_servers(const std::vector<std::string>& addresses) {
  v1::ServerMessage message;
  for (const std::string& address : addresses) message.mutable_servers()->add_addresses(address);
  enqueue(std::move(message));
}

void AgentReactor::close(const Status& reason) {
  if (end_) return;
  end_ = reason;
  if (!write_in_flight_ && (outbox_.empty() || !accepted_)) return finish();
  loop_.cancel(timer_);
  timer_ = loop_.call_after(kDrainTimeout, [this] {
    timer_ = 0;
    cut(*end_);
  });
}

void AgentReactor::OnReadDone(bool ok) {
  post([this, ok] {
    if (ok) {
      received();
    } else {
      cut({Code::cancelled, "the agent ended the stream"});
    }
  });
}

void AgentReactor::OnWriteDone(bool ok) {
  post([this, ok] {
    write_in_flight_ = false;
    writing_.Clear();
    if (!ok) drop_outbox();
    write_next();
  });
}

void AgentReactor::OnCancel() {
  post([this] { cut({Code::cancelled, "the agent's stream was cut"}); });
}

void AgentReactor::OnDone() {
  post([this] {
    loop_.cancel(timer_);
    // The callbacks may hold this stream: let go of them after they have run.
    Events events = std::exchange(events_, {});
    if (events.done) events.done();
  });
  // The loop may be gone and have dropped the callback; then this is the last share.
  std::shared_ptr<AgentReactor> self = std::move(self_);
}

void AgentReactor::post(std::function<void()> callback) {
  loop_.post([self = shared_from_this(), callback = std::move(callback)] { callback(); });
}

// The next read starts only when this message is handled: an agent cannot flood the loop.
void AgentReactor::received() {
  if (end_) return;
  if (said_hello_) {
    handle(reading_);
  } else {
    handle_hello(reading_);
  }
  if (end_) return;
  reading_.Clear();
  StartRead(&reading_);
}

void AgentReactor::handle_hello(const v1::AgentMessage& message) {
  if (!message.has_hello()) {
    return close(invalid_argument("the first message of an agent must be its hello"));
  }
  Result<AgentHello> hello = from_proto(message.hello());
  if (!hello.is_ok()) return close(hello.status());
  said_hello_ = true;
  place_.reset();
  loop_.cancel(timer_);
  timer_ = 0;
  hello.value().identity.address = host_of_peer(peer_);
  events_.hello(hello.value());
}

void AgentReactor::handle(const v1::AgentMessage& message) {
  switch (message.body_case()) {
    case v1::AgentMessage::kReport: {
      Result<AgentReport> report = from_proto(message.report());
      if (!report.is_ok()) return close(report.status());
      return events_.report(std::move(report).value());
    }
    case v1::AgentMessage::kLogChunk: {
      Result<LogChunk> chunk = from_proto(message.log_chunk());
      if (!chunk.is_ok()) return close(chunk.status());
      return events_.log_chunk(message.log_chunk().request_id(), chunk.value());
    }
    case v1::AgentMessage::kHello:
      return close(invalid_argument("a second hello"));
    case v1::AgentMessage::BODY_NOT_SET:
      return;  // Of a newer agent: not for us.
  }
}

void AgentReactor::enqueue(v1::ServerMessage message) {
  if (end_) return;
  const size_t bytes = message.ByteSizeLong();
  if (outbox_.size() >= kOutboxMax || outbox_bytes_ + bytes > kOutboxBytesMax) {
    return cut(resource_exhausted("the agent does not read: {} messages of {} bytes wait",
                                  outbox_.size(), outbox_bytes_));
  }
  outbox_.push_back({std::move(message), bytes});
  outbox_bytes_ += bytes;
  write_soon();
}

// After all that is sent at this moment has been: each message costs both sides far more than what
// is in it.
void AgentReactor::write_soon() {
  if (write_in_flight_ || std::exchange(write_posted_, true)) return;
  post([this] {
    write_posted_ = false;
    write_next();
  });
}

void AgentReactor::write_next() {
  if (write_in_flight_ || !accepted_ || finished_) return;
  if (outbox_.empty()) {
    if (end_) finish();
    return;
  }
  const size_t bytes = take_first(writing_);
  take_orders_along(bytes);
  write_in_flight_ = true;
  StartWrite(&writing_);
}

size_t AgentReactor::take_first(v1::ServerMessage& message) {
  const size_t bytes = outbox_.front().bytes;
  message = std::move(outbox_.front().message);
  outbox_.pop_front();
  outbox_bytes_ -= bytes;
  return bytes;
}

// `bytes` are those of `writing_`.
void AgentReactor::take_orders_along(size_t bytes) {
  if (!writing_.has_order()) return;
  while (!outbox_.empty() && outbox_.front().message.has_order()) {
    bytes += outbox_.front().bytes;
    if (bytes > kTogetherBytesMax) return;
    v1::ServerMessage next;
    take_first(next);
    writing_.mutable_more_orders()->AddAllocated(next.release_order());
  }
}

// Ends the stream without waiting for the agent to read anything more.
void AgentReactor::cut(const Status& reason) {
  if (finished_) return;
  if (!end_) end_ = reason;
  drop_outbox();
  if (!write_in_flight_) return finish();
  context_.TryCancel();  // The outstanding write fails, and its end finishes the stream.
}

void AgentReactor::drop_outbox() {
  outbox_.clear();
  outbox_bytes_ = 0;
}

// Only without an outstanding write: gRPC wants it so.
void AgentReactor::finish() {
  if (std::exchange(finished_, true)) return;
  loop_.cancel(timer_);
  timer_ = 0;
  log_debug("agent_stream_ended", {{"reason", *end_}});
  Finish(to_grpc(*end_));
}

}  // namespace hai
