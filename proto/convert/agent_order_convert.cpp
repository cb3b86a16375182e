// Orders: what the server wants.

#include <limits>

#include "common/launch_refusal.h"
#include "hai/v1/agent.pb.h"
#include "proto/convert/agent_convert.h"
#include "proto/convert/agent_enums.h"
#include "proto/convert/limits.h"
#include "proto/convert/place_convert.h"
#include "proto/convert/rank_key_convert.h"
#include "proto/convert/spec_convert.h"

namespace hai {

namespace {

constexpr int kPortMax = 65'535;
constexpr int kExitCodeMax = 255;

void write_places(const LaunchRank& launch, int protocol, PlacesCodec& codec, v1::LaunchRank& out) {
  const auto rank = static_cast<size_t>(launch.key.rank);
  if (protocol >= kProtocolOfGangs && rank < launch.ranks.size()) {
    out.set_gang(codec.encode_gang(launch.ranks));
    if (!out.gang().empty()) return to_proto(launch.ranks[rank], *out.mutable_here());
  }
  out.set_ranks(codec.encode(launch.ranks));
}

void to_proto(const LaunchRank& launch, int protocol, PlacesCodec& codec, v1::LaunchRank& out) {
  to_proto(launch.key, *out.mutable_key());
  out.set_job_name(launch.job_name);
  out.set_user(launch.user);
  out.set_workspace(launch.workspace);
  out.set_entrypoint(launch.entrypoint);
  out.set_parameters(launch.parameters);
  for (const auto& [name, value] : launch.environments) {
    v1::Environment& environment = *out.add_environments();
    environment.set_name(name);
    environment.set_value(value);
  }
  out.set_launch(kLaunchModes.to_proto(launch.launch));
  out.set_env_style(kEnvStyles.to_proto(launch.env_style));
  out.set_gpus(launch.gpus.bits);
  out.set_exclusive(launch.exclusive);
  out.set_cpus(launch.cpus);
  out.set_memory_bytes(launch.memory_bytes);
  write_places(launch, protocol, codec, out);
  out.set_master_port(launch.master_port);
  out.set_suspend_signal(launch.suspend_signal);
  out.set_suspend_exit_code(launch.suspend_exit_code);
  out.set_watchdog_us(launch.watchdog.count());
  out.set_checkpoint(launch.checkpoint);
  out.set_whole_life_state(launch.whole_life_state);
  out.set_is_validation(launch.is_validation);
  to_proto(launch.program, *out.mutable_program());
  out.set_proof(launch.proof);
  if (launch.image.empty()) return;
  out.set_image(launch.image);
  out.add_environments()->set_name(std::string(kNeedsImages));
}

Status check_texts(const v1::LaunchRank& message) {
  RETURN_IF_ERROR(check_size("job_name", message.job_name().size(), AgentLimits::kNameBytes));
  RETURN_IF_ERROR(check_size("user", message.user().size(), AgentLimits::kNameBytes));
  RETURN_IF_ERROR(check_size("workspace", message.workspace().size(), AgentLimits::kTextBytes));
  RETURN_IF_ERROR(check_size("entrypoint", message.entrypoint().size(), AgentLimits::kTextBytes));
  RETURN_IF_ERROR(check_size("parameters", message.parameters().size(), AgentLimits::kTextBytes));
  RETURN_IF_ERROR(
      check_size("suspend_signal", message.suspend_signal().size(), AgentLimits::kNameBytes));
  RETURN_IF_ERROR(check_size("image", message.image().size(), AgentLimits::kTextBytes));
  RETURN_IF_ERROR(check_size("proof", message.proof().size(), AgentLimits::kProofBytes));
  RETURN_IF_ERROR(check_size("checkpoint", message.checkpoint().size(), AgentLimits::kTextBytes));
  return check_size("whole_life_state", message.whole_life_state().size(), AgentLimits::kTextBytes);
}

Status check_numbers(const v1::LaunchRank& message) {
  RETURN_IF_ERROR(check_range("cpus", message.cpus(), 0, AgentLimits::kCpus));
  RETURN_IF_ERROR(
      check_range("memory_bytes", message.memory_bytes(), 0, AgentLimits::kMemoryBytes));
  RETURN_IF_ERROR(check_range("master_port", message.master_port(), 0, kPortMax));
  RETURN_IF_ERROR(check_range("suspend_exit_code", message.suspend_exit_code(), 0, kExitCodeMax));
  return check_duration("watchdog_us", message.watchdog_us());
}

Status read_environments(const v1::LaunchRank& message, LaunchRank& out) {
  RETURN_IF_ERROR(check_size("environments", static_cast<size_t>(message.environments_size()),
                             AgentLimits::kEnvironments));
  for (const v1::Environment& environment : message.environments()) {
    if (!message.image().empty() && environment.name() == kNeedsImages) continue;
    if (!out.environments.emplace(environment.name(), environment.value()).second) {
      return invalid_argument("environment variable {} is given twice", environment.name());
    }
  }
  return ok();
}

Status read_places(const v1::LaunchRank& message, PlacesCodec& codec, LaunchRank& out) {
  const bool is_short = !message.gang().empty();
  Result<RankPlaces> places =
      is_short ? codec.decode_gang(message.gang()) : codec.decode(message.ranks());
  if (!places.is_ok()) return places.status();
  if (is_short) RETURN_IF_ERROR(from_proto(message.here(), out.here.emplace()));
  out.ranks = std::move(places).value();
  if (static_cast<size_t>(out.key.rank) < out.ranks.size()) return ok();
  return invalid_argument("rank {} of an attempt with {} ranks", out.key.rank, out.ranks.size());
}

Status from_proto(const v1::LaunchRank& message, PlacesCodec& codec, LaunchRank& out) {
  RETURN_IF_ERROR(from_proto(message.key(), out.key));
  RETURN_IF_ERROR(check_texts(message));
  RETURN_IF_ERROR(check_numbers(message));
  RETURN_IF_ERROR(kLaunchModes.from_proto(message.launch(), out.launch));
  RETURN_IF_ERROR(kEnvStyles.from_proto(message.env_style(), out.env_style));
  RETURN_IF_ERROR(read_environments(message, out));
  RETURN_IF_ERROR(read_places(message, codec, out));
  out.job_name = message.job_name();
  out.user = message.user();
  out.workspace = message.workspace();
  out.entrypoint = message.entrypoint();
  out.parameters = message.parameters();
  out.gpus = {message.gpus()};
  out.exclusive = message.exclusive();
  out.cpus = message.cpus();
  out.memory_bytes = message.memory_bytes();
  out.master_port = message.master_port();
  out.suspend_signal = message.suspend_signal();
  out.suspend_exit_code = message.suspend_exit_code();
  out.watchdog = Duration(message.watchdog_us());
  out.checkpoint = message.checkpoint();
  out.whole_life_state = message.whole_life_state();
  out.is_validation = message.is_validation();
  from_proto(message.program(), out.program);
  out.image = message.image();
  out.proof = message.proof();
  return ok();
}

struct BodyToProto {
  int protocol;
  PlacesCodec& codec;
  v1::AgentOrder& out;

  void operator()(const LaunchRank& launch) const {
    to_proto(launch, protocol, codec, *out.mutable_launch_rank());
  }
  void operator()(const SuspendRank& suspend) const {
    to_proto(suspend.key, *out.mutable_suspend_rank()->mutable_key());
    out.mutable_suspend_rank()->set_grace_us(suspend.grace.count());
    out.mutable_suspend_rank()->set_tell_by_signal(suspend.tell_by_signal);
  }
  void operator()(const ContinueRank& order) const {
    to_proto(order.key, *out.mutable_continue_rank()->mutable_key());
  }
  void operator()(const KillRank& order) const {
    to_proto(order.key, *out.mutable_kill_rank()->mutable_key());
    out.mutable_kill_rank()->set_take_evidence(order.take_evidence);
  }
  void operator()(const ForgetRank& order) const {
    to_proto(order.key, *out.mutable_forget_rank()->mutable_key());
  }
  void operator()(const GrantLease& grant) const {
    v1::GrantLease& message = *out.mutable_grant_lease();
    message.set_report_sequence(grant.report_sequence);
    message.set_lease_us(grant.lease.count());
    message.set_heartbeat_us(grant.heartbeat.count());
    message.set_fence_us(grant.fence.count());
    message.set_server_time_us(to_micros(grant.server_time));
  }
  void operator()(const NamePeers& order) const {
    v1::NamePeers& message = *out.mutable_name_peers();
    message.set_version(order.version);
    for (const Peer& peer : order.peers) {
      v1::Peer& added = *message.add_peers();
      added.set_node(peer.node);
      added.set_address(peer.address);
      added.set_port(peer.port);
    }
  }
  void operator()(const RunHook& order) const {
    v1::RunHook& message = *out.mutable_run_hook();
    message.set_id(order.id);
    message.set_action(kHookActions.to_proto(order.action));
    message.set_reason(order.reason);
  }
  void operator()(const ClearFault& order) const {
    v1::ClearFault& message = *out.mutable_clear_fault();
    message.set_name(order.name);
    message.set_subject(order.subject);
    message.set_at_us(to_micros(order.at));
  }
  void operator()(const RefuseAgent& refuse) const {
    out.mutable_refuse_agent()->set_reason(refuse.reason);
  }
};

Status from_proto(const v1::SuspendRank& message, SuspendRank& out) {
  RETURN_IF_ERROR(check_duration("grace_us", message.grace_us()));
  out.grace = Duration(message.grace_us());
  out.tell_by_signal = message.tell_by_signal();
  return from_proto(message.key(), out.key);
}

Status from_proto(const v1::GrantLease& message, GrantLease& out) {
  RETURN_IF_ERROR(check_range("report_sequence", message.report_sequence(), 0,
                              std::numeric_limits<int64_t>::max()));
  RETURN_IF_ERROR(check_duration("lease_us", message.lease_us()));
  RETURN_IF_ERROR(check_duration("heartbeat_us", message.heartbeat_us()));
  RETURN_IF_ERROR(check_duration("fence_us", message.fence_us()));
  RETURN_IF_ERROR(check_unix_time("server_time_us", message.server_time_us()));
  out = {message.report_sequence(), Duration(message.lease_us()), Duration(message.heartbeat_us()),
         Duration(message.fence_us()), unix_micros(message.server_time_us())};
  return ok();
}

Status from_proto(const v1::NamePeers& message, NamePeers& out) {
  RETURN_IF_ERROR(
      check_range("version", message.version(), 0, std::numeric_limits<int64_t>::max()));
  RETURN_IF_ERROR(
      check_size("peers", static_cast<size_t>(message.peers_size()), AgentLimits::kPeers));
  out.version = message.version();
  for (const v1::Peer& peer : message.peers()) {
    RETURN_IF_ERROR(check_name("peer node", peer.node(), false));
    RETURN_IF_ERROR(check_name("peer address", peer.address(), true));
    RETURN_IF_ERROR(check_range("peer port", peer.port(), 0, AgentLimits::kPort));
    out.peers.push_back({peer.node(), peer.address(), peer.port()});
  }
  return ok();
}

Status from_proto(const v1::KillRank& message, KillRank& out) {
  out.take_evidence = message.take_evidence();
  return from_proto(message.key(), out.key);
}

Status from_proto(const v1::RunHook& message, RunHook& out) {
  RETURN_IF_ERROR(check_size("reason", message.reason().size(), AgentLimits::kTextBytes));
  RETURN_IF_ERROR(kHookActions.from_proto(message.action(), out.action));
  out.id = message.id();
  out.reason = message.reason();
  return ok();
}

Status from_proto(const v1::ClearFault& message, ClearFault& out) {
  RETURN_IF_ERROR(check_size("check name", message.name().size(), AgentLimits::kNameBytes));
  RETURN_IF_ERROR(check_size("check subject", message.subject().size(), AgentLimits::kNameBytes));
  RETURN_IF_ERROR(check_unix_time("at_us", message.at_us()));
  out = {message.name(), message.subject(), unix_micros(message.at_us())};
  return ok();
}

Status from_proto(const v1::RefuseAgent& message, RefuseAgent& out) {
  RETURN_IF_ERROR(check_size("reason", message.reason().size(), AgentLimits::kTextBytes));
  out.reason = message.reason();
  return ok();
}

Status read_body(const v1::AgentOrder& message, PlacesCodec& codec, OrderBody& out) {
  switch (message.body_case()) {
    case v1::AgentOrder::kLaunchRank:
      return from_proto(message.launch_rank(), codec, out.emplace<LaunchRank>());
    case v1::AgentOrder::kSuspendRank:
      return from_proto(message.suspend_rank(), out.emplace<SuspendRank>());
    case v1::AgentOrder::kContinueRank:
      return from_proto(message.continue_rank().key(), out.emplace<ContinueRank>().key);
    case v1::AgentOrder::kKillRank:
      return from_proto(message.kill_rank(), out.emplace<KillRank>());
    case v1::AgentOrder::kForgetRank:
      return from_proto(message.forget_rank().key(), out.emplace<ForgetRank>().key);
    case v1::AgentOrder::kGrantLease:
      return from_proto(message.grant_lease(), out.emplace<GrantLease>());
    case v1::AgentOrder::kNamePeers:
      return from_proto(message.name_peers(), out.emplace<NamePeers>());
    case v1::AgentOrder::kRunHook:
      return from_proto(message.run_hook(), out.emplace<RunHook>());
    case v1::AgentOrder::kClearFault:
      return from_proto(message.clear_fault(), out.emplace<ClearFault>());
    case v1::AgentOrder::kRefuseAgent:
      return from_proto(message.refuse_agent(), out.emplace<RefuseAgent>());
    case v1::AgentOrder::BODY_NOT_SET:
      break;
  }
  return invalid_argument(
      "order has no body this version knows; is the agent older than the server?");
}

}  // namespace

void to_proto(const AgentOrder& order, int protocol, PlacesCodec& codec, v1::AgentOrder& out) {
  out.set_epoch(order.epoch.value);
  out.set_seq(order.seq);
  out.set_proof(order.proof);
  std::visit(BodyToProto{protocol, codec, out}, order.body);
}

Result<AgentOrder> from_proto(const v1::AgentOrder& message, PlacesCodec& codec) {
  RETURN_IF_ERROR(check_range("epoch", message.epoch(), 0, std::numeric_limits<int64_t>::max()));
  RETURN_IF_ERROR(check_range("seq", message.seq(), 0, std::numeric_limits<int64_t>::max()));
  AgentOrder order{.epoch = Epoch{message.epoch()}};
  order.seq = message.seq();
  RETURN_IF_ERROR(check_size("proof", message.proof().size(), AgentLimits::kProofBytes));
  order.proof = message.proof();
  RETURN_IF_ERROR(read_body(message, codec, order.body));
  return order;
}

}  // namespace hai
