#include "agent/rpc/server_link.h"

#include <algorithm>

#include "agent/rpc/log_waiter.h"
#include "agent/rpc/server_list.h"
#include "agent/rpc/server_stream.h"
#include "common/check.h"
#include "common/log.h"
#include "proto/convert/grpc_locks.h"

namespace hai {

// To find out why TLS fails costs both sides a connection, and the reason changes slowly.
constexpr int kFailuresPerReason = 12;

GrpcServerLink::GrpcServerLink(Loop& loop, LogSource& logs, ServerLinkOptions options)
    : loop_(loop),
      options_(std::move(options)),
      rng_(options_.seed),
      log_waiter_(std::make_unique<LogWaiter>(loop, logs)) {
  CHECK(!options_.servers.empty());
  servers_ = all_servers(options_.servers, options_.told_servers);
  leave_grpc_locks_unchecked();
  if (!options_.codec) options_.codec = std::make_shared<PlacesCodec>();
  // So that the agents of a cluster spread over its servers while nobody leads yet.
  server_ = servers_[static_cast<size_t>(rng_.below(servers_.size()))];
}

GrpcServerLink::~GrpcServerLink() {
  loop_.cancel(timer_);
  if (stream_) stream_->close_and_wait();
}

void GrpcServerLink::start(Listener listener) {
  listener_ = std::move(listener);
  connect();
}

void GrpcServerLink::send(const AgentReport& report) {
  if (accepted_) stream_->send_report(report);
}

ServerStreamEvents GrpcServerLink::make_events() {
  return {.accepted = [this] { stream_accepted(); },
          .order =
              [this](const AgentOrder& order) {
                // An accepted stream that is refused later is no success: it must not reset the
                // backoff, or a cluster of refused agents would knock without a pause.
                if (!std::holds_alternative<RefuseAgent>(order.body)) failures_ = 0;
                listener_.order(order);
              },
          .peer_keys = options_.peer_keys,
          .servers = [this](const std::vector<std::string>& told) { take_servers(told); },
          .read_log = [this](int64_t id, const LogRequest& request) { answer_log(id, request); },
          .open_shell =
              [this](const ShellRequest& request) { options_.open_shell(server_, tls_, request); },
          .done = [this](const Status& status) { stream_done(status); }};
}

void GrpcServerLink::connect() {
  if (const auto found = reason_seeker_.take()) log_refusal(found->server, found->why);
  Result<TlsTexts> tls = options_.tls();
  if (!tls.is_ok()) {
    return stream_done(failed_precondition("tls: {}", tls.status().message()));
  }
  tls_ = std::move(tls).value();
  stream_ = ServerStream::open(loop_,
                               {.server = server_,
                                .hello = {.agent_token = options_.agent_token,
                                          .node = options_.node,
                                          .identity = options_.identity},
                                .tls = tls_,
                                .keepalive = options_.keepalive,
                                .codec = options_.codec},
                               make_events());
  previous_stream_.reset();
  timer_ = loop_.call_after(patience(), [this] {
    timer_ = 0;
    stream_->close();
  });
}

void GrpcServerLink::take_servers(const std::vector<std::string>& told) {
  if (told == options_.told_servers) return;
  options_.told_servers = told;
  servers_ = all_servers(options_.servers, told);
  options_.told_of_servers(told);
}

std::string GrpcServerLink::server_after(const std::string& server) const {
  const auto found = std::ranges::find(servers_, server);
  const bool is_last = found == servers_.end() || found + 1 == servers_.end();
  return is_last ? servers_.front() : found[1];
}

void GrpcServerLink::stream_accepted() {
  loop_.cancel(timer_);
  timer_ = 0;
  accepted_ = true;
  refusal_ = ok();
  log_info("server_connected", {{"server", server_}});
  listener_.connected();
}

void GrpcServerLink::stream_done(const Status& status) {
  loop_.cancel(timer_);
  timer_ = 0;
  previous_stream_ = std::move(stream_);
  log_waiter_->drop_all();
  const bool was_accepted = std::exchange(accepted_, false);
  log_end(was_accepted, status);
  if (!was_accepted) seek_reason(status);
  server_ = server_after(server_);
  if (failures_ == 0) alone_since_ = loop_.now();
  ++failures_;
  retry_later(was_accepted);
  if (was_accepted) listener_.disconnected();
}

// What a person has to mend is said once, for him to read: another agent has the node's name, or
// one side does not believe the other's certificate. We ask again every few seconds, since it may
// be.
void GrpcServerLink::log_end(bool was_accepted, const Status& status) {
  const bool is_for_a_person = status.code() == Code::already_exists ||
                               status.code() == Code::permission_denied ||
                               status.code() == Code::failed_precondition;
  if (was_accepted || !is_for_a_person) {
    return log_info(was_accepted ? "server_disconnected" : "server_not_reached",
                    {{"server", server_}, {"reason", status}});
  }
  log_refusal(server_, status);
}

void GrpcServerLink::log_refusal(const std::string& server, const Status& why) {
  if (refusal_ != why) log_error("refused_by_server", {{"server", server}, {"reason", why}});
  refusal_ = why;
}

void GrpcServerLink::seek_reason(const Status& status) {
  const bool may_be_tls =
      status.code() == Code::unavailable && status.message().find("refused") == std::string::npos;
  if (may_be_tls && failures_ % kFailuresPerReason == 0) {
    reason_seeker_.seek(server_, tls_);
  }
}

// When a server goes, all its agents notice at once: they come back spread over a second, so that
// the next one is not busy with handshakes before it has read its state. Then the pause grows by
// half with each round over all servers: slowly enough that agents are back soon after a server is.
void GrpcServerLink::retry_later(bool was_accepted) {
  const int rounds = (failures_ - 1) / static_cast<int>(servers_.size());
  const Duration longest = longest_pause();
  Duration pause = options_.backoff_min;
  for (int i = 0; i < rounds && pause < longest; ++i) pause += pause / 2;
  pause = std::min(pause, longest);
  const bool is_first = was_accepted && failures_ == 1;
  pause = is_first ? Duration(rng_.between(0, 10 * options_.backoff_min.count()))
                   : Duration(rng_.between(pause.count() / 2, pause.count()));
  timer_ = loop_.call_after(pause, [this] {
    timer_ = 0;
    connect();
  });
}

Duration GrpcServerLink::longest_pause() const {
  const bool is_in_hurry = loop_.now() - alone_since_ < options_.hurry;
  return is_in_hurry ? std::min(options_.backoff_max_in_hurry, options_.backoff_max)
                     : options_.backoff_max;
}

Duration GrpcServerLink::patience() const {
  const int rounds = failures_ / static_cast<int>(servers_.size());
  Duration patience = options_.connect_timeout / 5;
  for (int i = 0; i < rounds && patience < options_.connect_timeout; ++i) patience *= 2;
  return std::min(patience, options_.connect_timeout);
}

void GrpcServerLink::answer_log(int64_t request_id, const LogRequest& request) {
  log_waiter_->read(request, [this, request_id](LogChunk chunk) {
    if (stream_) stream_->send_log_chunk(request_id, chunk);
  });
}

}  // namespace hai
