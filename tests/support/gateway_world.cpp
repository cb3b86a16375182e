#include "tests/support/gateway_world.h"

#include "proto/convert/agent_convert.h"

namespace hai::test {

namespace {

constexpr Duration kBeat = 2s;

Knobs knobs_of_tests() {
  Knobs knobs;
  knobs.heartbeat = kBeat;
  return knobs;
}

}  // namespace

Status AgentEnd::check_is(const std::string& node) const {
  if (node == proven_) return ok();
  return permission_denied("the agent's certificate is of node {}, and it says it is {}", proven_,
                           node);
}

void AgentEnd::send(const AgentOrder& order, PlacesCodec& codec) {
  if (is_over) return;
  v1::ServerMessage message;
  to_proto(order, kProtocols.newest, codec, *message.mutable_order());
  bytes_sent += message.ByteSizeLong();
  orders.push_back(order);
}

void AgentEnd::send(int64_t, const LogRequest&) {}

// The stream's end comes later than the call, as in production.
void AgentEnd::close(const Status& why) {
  if (std::exchange(is_over, true)) return;
  reason = why;
  world_.loop_.post([events = events_] {
    if (events.done) events.done();
  });
}

HonestAgent::HonestAgent(GatewayWorld& world, std::string node)
    : world_(world), node_(std::move(node)), stream_(world.dial(node_)) {
  world_.say(stream_, GatewayWorld::hello_of(node_));
}

void HonestAgent::obey(const AgentOrder& order) {
  seen_ = {order.epoch, order.seq};
  seen_proof_ = order.proof;
  if (const auto* launch = std::get_if<LaunchRank>(&order.body)) {
    ranks_.try_emplace(
        launch->key,
        RankStatus{.key = launch->key, .phase = RankPhase::running, .proof = launch->proof});
  } else if (const auto* suspend = std::get_if<SuspendRank>(&order.body)) {
    ranks_[suspend->key] = {
        .key = suspend->key, .phase = RankPhase::exited, .cause = ExitCause::go_suspend};
  } else if (const auto* kill = std::get_if<KillRank>(&order.body)) {
    ranks_[kill->key] = {
        .key = kill->key, .phase = RankPhase::exited, .cause = ExitCause::killed, .exit_code = 137};
  } else if (const auto* forget = std::get_if<ForgetRank>(&order.body)) {
    ranks_.erase(forget->key);
  } else if (const auto* grant = std::get_if<GrantLease>(&order.body)) {
    granted_ = grant->report_sequence;
  }
}

void HonestAgent::beat() {
  if (stream_->is_over) {  // as a real one does: a leader that has stepped down ends its streams
    stream_ = world_.dial(node_);
    sequence_ = granted_ = 0;
    world_.say(stream_, GatewayWorld::hello_of(node_));
  }
  for (const AgentOrder& order : std::exchange(stream_->orders, {})) obey(order);
  AgentReport report{.node = node_, .sequence = ++sequence_};
  report.granted_sequence = granted_;
  report.seen = seen_;
  report.seen_proof = seen_proof_;
  for (const auto& [key, status] : ranks_) report.ranks.push_back(status);
  v1::AgentMessage message;
  to_proto(report, *message.mutable_report());
  if (sequence_ == 1) GatewayWorld::add_facts(node_, *message.mutable_report());
  world_.say(stream_, message);
}

void GatewayWorld::start_server() {
  controller_ = std::make_unique<Controller>(
      loop_, store_, gateway_, nullptr, knobs_of_tests(),
      Bootstrap{.admin_user = kUser, .public_quota_nodes = Quota::kUnlimited}, "test");
  controller_->start();
}

GatewayWorld::GatewayWorld(bool proves) {
  if (proves) gateway_.set_peer_secret(kSecret);
  gateway_.set_events(
      {.admit =
           [this](const AgentHello& hello) {
             return controller_->admit_agent(hello.node, hello.identity);
           },
       .is_undecided = [this] { return controller_->mode() == ServerMode::loading; },
       .connected =
           [this](ConnectionId id, const AgentHello& hello) {
             controller_->agent_connected(id, hello.node, hello.identity);
           },
       .report = [this](ConnectionId id,
                        const AgentReport& report) { controller_->agent_report(id, report); },
       .disconnected = [this](ConnectionId id) { controller_->agent_disconnected(id); },
       // Nobody has asked for any: what LogRouter does with such an answer.
       .log_chunk = [](ConnectionId, int64_t, const LogChunk&) {}});
  start_server();
  run(1s);
}

// What the gateway wants to be told of a stream holds the stream.
GatewayWorld::~GatewayWorld() {
  for (const std::weak_ptr<AgentEnd>& each : dialed_) {
    if (const auto stream = each.lock()) stream->events_ = {};
  }
}

std::shared_ptr<AgentEnd> GatewayWorld::dial(const std::string& node) {
  auto stream = std::make_shared<AgentEnd>(*this, node);
  dialed_.push_back(stream);
  stream->events_ = gateway_.opened(stream);
  return stream;
}

void GatewayWorld::say(const std::shared_ptr<AgentEnd>& stream, const v1::AgentMessage& message) {
  if (stream->is_over) return;
  if (message.ByteSizeLong() > static_cast<size_t>(kMaxMessageBytes)) {
    return stream->close(resource_exhausted("a message of more than {} bytes", kMaxMessageBytes));
  }
  if (!std::exchange(stream->said_hello_, true)) {
    if (!message.has_hello()) return stream->close(invalid_argument("no hello"));
    const Result<AgentHello> hello = from_proto(message.hello());
    return hello.is_ok() ? stream->events_.hello(hello.value()) : stream->close(hello.status());
  }
  if (message.has_hello()) return stream->close(invalid_argument("a second hello"));
  if (message.has_report()) {
    const Result<AgentReport> report = from_proto(message.report());
    return report.is_ok() ? stream->events_.report(report.value()) : stream->close(report.status());
  }
  if (message.has_log_chunk()) {
    const Result<LogChunk> chunk = from_proto(message.log_chunk());
    if (!chunk.is_ok()) return stream->close(chunk.status());
    stream->events_.log_chunk(message.log_chunk().request_id(), chunk.value());
  }
}

void GatewayWorld::hang_up(const std::shared_ptr<AgentEnd>& stream) {
  stream->close({Code::cancelled, "the agent ended the stream"});
}

JobSpec GatewayWorld::spec_of(const std::string& name) {
  JobSpec spec;
  spec.name = name;
  spec.workspace = "/data";
  spec.entrypoint = "train.py";
  spec.group = "training";
  spec.node_count = 1;
  return spec;
}

v1::AgentMessage GatewayWorld::hello_of(const std::string& node) {
  v1::AgentMessage message;
  message.mutable_hello()->set_protocol_newest(kProtocols.newest);
  message.mutable_hello()->set_node(node);
  message.mutable_hello()->set_instance("instance of " + node);
  return message;
}

v1::AgentMessage GatewayWorld::report_of(const std::string& node, int64_t sequence) {
  v1::AgentMessage message;
  message.mutable_report()->set_node(node);
  message.mutable_report()->set_sequence(sequence);
  return message;
}

void GatewayWorld::add_facts(const std::string& node, v1::AgentReport& report) {
  v1::NodeFacts& facts = *report.mutable_facts();
  facts.set_name(node);
  facts.set_group("training");
  facts.set_zone("A");
  facts.set_leaf("leaf-1");
  facts.set_gpus(8);
  facts.set_cpus(64);
  facts.set_memory_bytes(int64_t{1} << 40);
  facts.set_instance("instance of " + node);
}

void GatewayWorld::run(Duration time) {
  const MonoTime end = timeline_.now() + time;
  while (timeline_.now() < end) {
    if (timeline_.now() >= next_beat_) {
      next_beat_ = timeline_.now() + kBeat;
      for (const auto& agent : honest) agent->beat();
    }
    timeline_.run_until(std::min(end, next_beat_));
    gateway_.decide_waiting();
  }
}

void GatewayWorld::lose(size_t transactions) {
  controller_.reset();
  gateway_.close_all(unavailable("the server is gone"));
  database_.go_back(transactions);
  start_server();
  run(5s);
}

Status GatewayWorld::command(Command command) {
  Status outcome = unavailable("no answer");
  controller_->submit({.trusted_user = kUser}, std::move(command),
                      [&](Result<CommandReply> reply) { outcome = reply.status(); });
  run(100ms);
  return outcome;
}

}  // namespace hai::test
