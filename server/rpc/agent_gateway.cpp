#include "server/rpc/agent_gateway.h"

#include <utility>

#include "common/log.h"
#include "proto/convert/agent_convert.h"
#include "server/api/launch_secrets.h"
#include "server/api/sealed_environments.h"

namespace hai {

AgentStream::Events AgentGateway::opened(std::shared_ptr<AgentStream> stream) {
  const ConnectionId id{++last_id_};
  return {.hello = [this, id, stream](const AgentHello& hello) { said_hello(id, stream, hello); },
          .report = [this, id](AgentReport report) { reported(id, std::move(report)); },
          .log_chunk =
              [this, id](int64_t request_id, const LogChunk& chunk) {
                if (connections_.contains(id)) events_.log_chunk(id, request_id, chunk);
              },
          .done = [this, id] { ended(id); }};
}

void AgentGateway::said_hello(ConnectionId id, const std::shared_ptr<AgentStream>& stream,
                              const AgentHello& hello) {
  const int protocol = newest_in_common(hello.protocols, protocols_);
  if (protocol == 0) {
    const bool is_old = hello.protocols.newest < protocols_.oldest;
    return stream->close(failed_precondition(
        "the agent of {} speaks protocol {}, this server {}: upgrade the package hai-{} on {}",
        hello.node, to_string(hello.protocols), to_string(protocols_), is_old ? "agent" : "server",
        is_old ? "that node" : "the servers"));
  }
  if (const Status proof = judge(*stream, hello); !proof.is_ok()) {
    note_stranger(hello.node, hello.identity.address, proof);
    return stream->close(proof);
  }
  if (events_.is_undecided()) return waiting_.push_back({id, stream, hello});
  Status admitted = events_.admit(hello);
  if (admitted.is_ok() && !pace_.may_connect(hello.node)) {
    admitted = resource_exhausted(
        "node {} connects too often, once in {} from now on: its log says why it comes again",
        hello.node, format_duration(ConnectPace::kPerConnection));
  }
  if (!admitted.is_ok()) {
    note_refusal(hello, admitted);
    return stream->close(admitted);
  }
  connections_[id] = {stream, hello.node};
  newest_[hello.node] = id;
  if (stream->certificate_begins()) stream->give_peer_keys(peer_secret_, hello.node);
  stream->accept(protocol);
  if (!servers_.empty()) stream->name_servers(servers_);
  log_info("agent_connected", {{"node", hello.node}, {"connection", id}, {"protocol", protocol}});
  events_.connected(id, hello);
}

Status AgentGateway::judge(const AgentStream& stream, const AgentHello& hello) const {
  RETURN_IF_ERROR(stream.check_is(hello.node));
  RETURN_IF_ERROR(judge_certificate(stream, hello.node));
  return events_.prove(hello);
}

Status AgentGateway::judge_certificate(const AgentStream& stream, const std::string& node) const {
  const std::optional<UnixTime> begins = stream.certificate_begins();
  return begins ? events_.believe(node, *begins) : ok();
}

void AgentGateway::look_again() {
  std::vector<std::pair<std::shared_ptr<AgentStream>, Status>> refused;
  for (const auto& [id, connection] : connections_) {
    const Status status = judge_certificate(*connection.stream, connection.node);
    if (!status.is_ok()) refused.emplace_back(connection.stream, status);
  }
  for (const auto& [stream, why] : refused) stream->cut(why);
}

// That a node's name is taken is a mistake of somebody, who must see it among a thousand lines.
void AgentGateway::note_refusal(const AgentHello& hello, const Status& why) {
  if (why.code() != Code::already_exists) {
    return log_info("agent_refused", {{"node", hello.node}, {"reason", why}});
  }
  if (refused_.size() >= kRefusalsMax) refused_.clear();
  Status& last = refused_[hello.node];
  if (last != why) log_warning("agent_refused", {{"node", hello.node}, {"reason", why}});
  last = why;
}

void AgentGateway::note_stranger(const std::string& node, const std::string& address,
                                 const Status& why) {
  events_.stranger(node, address, why);
  const auto left_out = strangers_.next();
  if (!left_out) return;
  log_warning("agent_refused", {{"node", node}, {"reason", why}, {"left_out", *left_out}});
}

void AgentGateway::set_servers(const std::vector<std::string>& addresses) {
  if (addresses == servers_) return;
  servers_ = addresses;
  for (const auto& [id, connection] : connections_) connection.stream->name_servers(servers_);
}

void AgentGateway::decide_waiting() {
  for (const Waiting& each : std::exchange(waiting_, {})) {
    said_hello(each.id, each.stream, each.hello);
  }
}

void AgentGateway::reported(ConnectionId id, AgentReport report) {
  auto found = connections_.find(id);
  if (found == connections_.end()) return;
  if (report.node != found->second.node) {
    return found->second.stream->close(invalid_argument(
        "the stream of node {} brought a report of {}", found->second.node, report.node));
  }
  if (proofs_) proofs_->check(report.node, report);
  events_.report(id, report);
}

void AgentGateway::ended(ConnectionId id) {
  std::erase_if(waiting_, [id](const Waiting& each) { return each.id == id; });
  auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const std::string node = found->second.node;
  connections_.erase(found);
  if (auto newest = newest_.find(node); newest != newest_.end() && newest->second == id) {
    newest_.erase(newest);
  }
  log_info("agent_disconnected", {{"node", node}, {"connection", id}});
  events_.disconnected(id);
}

void AgentGateway::send(ConnectionId connection, const AgentOrder& order) {
  auto found = connections_.find(connection);
  if (found == connections_.end()) return;
  const auto& [stream, node] = found->second;
  const auto* launch = std::get_if<LaunchRank>(&order.body);
  const bool has_secrets = launch != nullptr && has_sealed(*launch);
  if (!proofs_ && !has_secrets) return stream->send(order, codec_);
  AgentOrder opened = order;
  if (proofs_) proofs_->add(node, opened);
  if (has_secrets) events_.open_secrets(std::get<LaunchRank>(opened.body));
  stream->send(opened, codec_);
  if (has_secrets) wipe_environments(std::get<LaunchRank>(opened.body));
}

void AgentGateway::close(ConnectionId connection, const std::string& reason) {
  auto found = connections_.find(connection);
  if (found != connections_.end()) found->second.stream->close(unavailable("{}", reason));
}

ConnectionId AgentGateway::send_log_request(const std::string& node, int64_t request_id,
                                            const LogRequest& request) {
  auto newest = newest_.find(node);
  if (newest == newest_.end()) return {};
  connections_.at(newest->second).stream->send(request_id, request);
  return newest->second;
}

bool AgentGateway::send_shell_request(const std::string& node, const ShellRequest& request) {
  auto newest = newest_.find(node);
  if (newest == newest_.end()) return false;
  connections_.at(newest->second).stream->send(request);
  return true;
}

void AgentGateway::close_all(const Status& reason) {
  for (const auto& [id, connection] : connections_) connection.stream->close(reason);
  for (const Waiting& each : waiting_) each.stream->close(reason);
}

}  // namespace hai
