// Hello and reports: what an agent says.

#include <algorithm>
#include <cmath>
#include <vector>

#include "hai/v1/agent.pb.h"
#include "proto/convert/agent_convert.h"
#include "proto/convert/agent_enums.h"
#include "proto/convert/health_convert.h"
#include "proto/convert/limits.h"
#include "proto/convert/rank_key_convert.h"

namespace hai {

namespace {

constexpr double kSaveSecondsMax = 1e9;
// Of why a rank ended, which becomes part of its row, of its attempt's, its job's and of events:
// what is beyond it no person reads.
constexpr size_t kRankMessageBytes = 4 << 10;

// Of a hello or of facts.
template <typename Message>
Status check_identity(const Message& message) {
  RETURN_IF_ERROR(check_size("instance", message.instance().size(), AgentLimits::kNameBytes));
  RETURN_IF_ERROR(check_size("machine", message.machine().size(), AgentLimits::kNameBytes));
  return check_size("boot_id", message.boot_id().size(), AgentLimits::kNameBytes);
}

void to_proto(const NodeFacts& facts, v1::NodeFacts& out) {
  out.set_name(facts.name);
  out.set_group(facts.group);
  out.set_zone(facts.zone);
  out.set_leaf(facts.leaf);
  out.set_address(facts.address);
  out.set_gpus(facts.gpus);
  out.set_cpus(facts.cpus);
  out.set_memory_bytes(facts.memory_bytes);
  out.set_numa_nodes(facts.numa_nodes);
  out.set_gpu_model(facts.gpu_model);
  out.set_agent_version(facts.agent_version);
  out.set_boot_id(facts.boot_id);
  out.set_peer_port(facts.peer_port);
  out.set_instance(facts.instance);
  out.set_machine(facts.machine);
  for (const std::string& label : facts.labels) out.add_labels(label);
}

Status from_proto(const v1::NodeFacts& message, NodeFacts& out) {
  RETURN_IF_ERROR(check_name("node name", message.name(), false));
  RETURN_IF_ERROR(check_name("node group", message.group(), false));
  RETURN_IF_ERROR(check_name("node zone", message.zone(), true));
  RETURN_IF_ERROR(check_name("node leaf", message.leaf(), true));
  RETURN_IF_ERROR(check_name("node address", message.address(), true));
  RETURN_IF_ERROR(check_range("node gpus", message.gpus(), 0, AgentLimits::kGpus));
  RETURN_IF_ERROR(check_range("node cpus", message.cpus(), 0, AgentLimits::kCpus));
  RETURN_IF_ERROR(
      check_range("node memory_bytes", message.memory_bytes(), 0, AgentLimits::kMemoryBytes));
  RETURN_IF_ERROR(check_range("node numa_nodes", message.numa_nodes(), 0, AgentLimits::kCpus));
  RETURN_IF_ERROR(check_size("gpu_model", message.gpu_model().size(), AgentLimits::kNameBytes));
  RETURN_IF_ERROR(
      check_size("agent_version", message.agent_version().size(), AgentLimits::kNameBytes));
  RETURN_IF_ERROR(
      check_size("labels", static_cast<size_t>(message.labels_size()), NodeFacts::kLabelsMax));
  for (const std::string& label : message.labels()) {
    RETURN_IF_ERROR(check_name("node label", label, false));
  }
  RETURN_IF_ERROR(check_identity(message));
  RETURN_IF_ERROR(check_range("peer_port", message.peer_port(), 0, AgentLimits::kPort));
  out = {.name = message.name(),
         .group = message.group(),
         .zone = message.zone(),
         .leaf = message.leaf(),
         .address = message.address(),
         .gpus = message.gpus(),
         .cpus = message.cpus(),
         .memory_bytes = message.memory_bytes(),
         .numa_nodes = message.numa_nodes(),
         .gpu_model = message.gpu_model(),
         .agent_version = message.agent_version(),
         .boot_id = message.boot_id(),
         .peer_port = message.peer_port(),
         .instance = message.instance(),
         .machine = message.machine(),
         .labels = {message.labels().begin(), message.labels().end()}};
  return ok();
}

void to_proto(const CheckpointInfo& checkpoint, v1::CheckpointInfo& out) {
  out.set_step(checkpoint.step);
  out.set_path(checkpoint.path);
  out.set_save_seconds(checkpoint.save_seconds);
  out.set_at_us(to_micros(checkpoint.at));
}

Status from_proto(const v1::CheckpointInfo& message, CheckpointInfo& out) {
  RETURN_IF_ERROR(check_size("checkpoint path", message.path().size(), AgentLimits::kTextBytes));
  RETURN_IF_ERROR(check_unix_time("checkpoint at_us", message.at_us()));
  double seconds = message.save_seconds();
  if (!std::isfinite(seconds)) seconds = 0;
  out = {.step = message.step(),
         .path = message.path(),
         .save_seconds = std::clamp(seconds, 0.0, kSaveSecondsMax),
         .at = unix_micros(message.at_us())};
  return ok();
}

// 256 CPUs work so long in a year.
constexpr Duration kCpuTimeMax = 256 * 24h * 365;

Status from_proto(const v1::RankTotals& message, RankUsage& out) {
  RETURN_IF_ERROR(check_range("cpu_time_us", message.cpu_time_us(), 0, kCpuTimeMax.count()));
  RETURN_IF_ERROR(
      check_range("peak_memory_bytes", message.peak_memory_bytes(), 0, AgentLimits::kMemoryBytes));
  out = {Duration(message.cpu_time_us()), message.peak_memory_bytes()};
  return ok();
}

Status metrics_from_proto(const v1::RankStatus& message, RankMetrics& out) {
  RETURN_IF_ERROR(
      check_size("metrics", static_cast<size_t>(message.metrics_size()), kRankMetricsMax));
  for (const auto& [name, value] : message.metrics()) {
    if (!is_rank_metric_name(name)) return invalid_argument("metrics: a name is not one");
    if (!std::isfinite(value)) return invalid_argument("metrics: {} is no number", name);
    out.emplace(name, value);
  }
  return ok();
}

void to_proto(const RankStatus& rank, v1::RankStatus& out) {
  to_proto(rank.key, *out.mutable_key());
  out.set_phase(kRankPhases.to_proto(rank.phase));
  out.set_suspend_notified(rank.suspend_notified);
  out.set_uses_sdk(rank.uses_sdk);
  out.set_cause(kExitCauses.to_proto(rank.cause));
  out.set_exit_code(rank.exit_code);
  out.set_message(rank.message);
  out.set_started_at_us(to_micros(rank.started_at));
  out.set_ended_at_us(to_micros(rank.ended_at));
  if (rank.checkpoint) to_proto(*rank.checkpoint, *out.mutable_checkpoint());
  if (rank.progress_step) out.set_progress_step(*rank.progress_step);
  for (const auto& [name, value] : rank.metrics) (*out.mutable_metrics())[name] = value;
  if (rank.whole_life_state) out.set_whole_life_state(*rank.whole_life_state);
  to_proto(rank.signs, out);
  if (rank.word_at) out.set_word_at_us(to_micros(*rank.word_at));
  if (rank.gpu_percent) out.set_gpu_percent(*rank.gpu_percent);
  to_proto(rank.measurements, out);
  out.set_proof(rank.proof);
  if (rank.usage) {
    out.mutable_usage()->set_cpu_time_us(rank.usage->cpu_time.count());
    out.mutable_usage()->set_peak_memory_bytes(rank.usage->peak_memory_bytes);
  }
}

Status from_proto(const v1::RankStatus& message, RankStatus& out) {
  RETURN_IF_ERROR(from_proto(message.key(), out.key));
  RETURN_IF_ERROR(kRankPhases.from_proto(message.phase(), out.phase));
  RETURN_IF_ERROR(kExitCauses.from_proto(message.cause(), out.cause));
  RETURN_IF_ERROR(check_size("rank message", message.message().size(), AgentLimits::kTextBytes));
  RETURN_IF_ERROR(check_unix_time("started_at_us", message.started_at_us()));
  RETURN_IF_ERROR(check_unix_time("ended_at_us", message.ended_at_us()));
  RETURN_IF_ERROR(
      check_size("whole_life_state", message.whole_life_state().size(), AgentLimits::kTextBytes));
  RETURN_IF_ERROR(check_size("proof", message.proof().size(), AgentLimits::kProofBytes));
  out.proof = message.proof();
  if (message.has_usage()) RETURN_IF_ERROR(from_proto(message.usage(), out.usage.emplace()));
  out.suspend_notified = message.suspend_notified();
  out.uses_sdk = !message.has_uses_sdk() || message.uses_sdk();
  out.exit_code = message.exit_code();
  out.message = message.message().substr(0, kRankMessageBytes);
  out.started_at = unix_micros(message.started_at_us());
  out.ended_at = unix_micros(message.ended_at_us());
  if (message.has_checkpoint()) {
    RETURN_IF_ERROR(from_proto(message.checkpoint(), out.checkpoint.emplace()));
  }
  if (message.has_progress_step()) out.progress_step = message.progress_step();
  RETURN_IF_ERROR(metrics_from_proto(message, out.metrics));
  if (message.has_whole_life_state()) out.whole_life_state = message.whole_life_state();
  return health_from_proto(message, out);
}

// The order on the wire is not trusted; two statuses of one rank contradict each other.
Status sort_unique(std::vector<RankStatus>& ranks) {
  auto by_key = [](const RankStatus& a, const RankStatus& b) { return a.key < b.key; };
  if (!std::is_sorted(ranks.begin(), ranks.end(), by_key)) {
    std::sort(ranks.begin(), ranks.end(), by_key);
  }
  auto same_key = [](const RankStatus& a, const RankStatus& b) { return a.key == b.key; };
  auto twice = std::adjacent_find(ranks.begin(), ranks.end(), same_key);
  if (twice == ranks.end()) return ok();
  return invalid_argument("report lists rank {} twice", to_string(twice->key));
}

}  // namespace

int newest_in_common(ProtocolRange one, ProtocolRange other) {
  const int newest = std::min(one.newest, other.newest);
  return newest >= std::max(one.oldest, other.oldest) ? newest : 0;
}

std::string to_string(ProtocolRange range) {
  return range.oldest == range.newest ? fmt::format("{}", range.newest)
                                      : fmt::format("{} to {}", range.oldest, range.newest);
}

void to_proto(const AgentHello& hello, v1::Hello& out) {
  out.set_protocol_newest(hello.protocols.newest);
  out.set_protocol_oldest(hello.protocols.oldest);
  out.set_agent_token(hello.agent_token);
  out.set_node(hello.node);
  out.set_instance(hello.identity.instance);
  out.set_machine(hello.identity.machine);
  out.set_boot_id(hello.identity.boot_id);
}

Result<AgentHello> from_proto(const v1::Hello& message) {
  RETURN_IF_ERROR(check_name("node name", message.node(), false));
  RETURN_IF_ERROR(check_size("agent token", message.agent_token().size(), AgentLimits::kNameBytes));
  RETURN_IF_ERROR(check_identity(message));
  const int newest = message.protocol_newest();
  const int oldest = message.protocol_oldest() == 0 ? newest : message.protocol_oldest();
  if (oldest > newest) return invalid_argument("protocols {} to {}", oldest, newest);
  return AgentHello{.protocols = {.oldest = oldest, .newest = newest},
                    .agent_token = message.agent_token(),
                    .node = message.node(),
                    .identity = {.instance = message.instance(),
                                 .machine = message.machine(),
                                 .boot_id = message.boot_id()}};
}

void to_proto(const AgentReport& report, v1::AgentReport& out) {
  out.set_node(report.node);
  out.set_sequence(report.sequence);
  if (report.facts) to_proto(*report.facts, *out.mutable_facts());
  for (const RankStatus& rank : report.ranks) to_proto(rank, *out.add_ranks());
  out.set_granted_sequence(report.granted_sequence);
  out.set_peers_version(report.peers_version);
  out.set_seen_epoch(report.seen.epoch.value);
  out.set_seen_seq(report.seen.seq);
  out.set_seen_proof(report.seen_proof);
  out.set_is_news_only(report.is_news_only);
  if (report.checks) to_proto(*report.checks, *out.mutable_checks());
  if (report.gpu_readings) to_proto(*report.gpu_readings, *out.mutable_gpu_readings());
  if (report.hook) to_proto(*report.hook, *out.mutable_hook());
}

namespace {

// What an ended rank said last must arrive with its end: until that has room it is told as running.
void put_end_off(v1::RankStatus& rank) {
  rank.set_phase(v1::RANK_PHASE_RUNNING);
  rank.set_cause(v1::EXIT_CAUSE_NONE);
  rank.clear_exit_code();
  rank.clear_message();
  rank.clear_ended_at_us();
  rank.clear_usage();
}

}  // namespace

int fit_life_states(v1::AgentReport& report, int next) {
  size_t bytes = report.ByteSizeLong();
  if (bytes <= kReportBytesMax) return next;
  const int count = report.ranks_size();
  for (const v1::RankStatus& rank : report.ranks()) bytes -= rank.whole_life_state().size();
  int first_left_out = -1;
  const auto fit = [&](int at) {
    v1::RankStatus& rank = *report.mutable_ranks(at);
    if (!rank.has_whole_life_state()) return;
    if (bytes + rank.whole_life_state().size() <= kReportBytesMax) {
      bytes += rank.whole_life_state().size();
      return;
    }
    rank.clear_whole_life_state();
    if (rank.phase() == v1::RANK_PHASE_EXITED) return put_end_off(rank);
    if (first_left_out < 0) first_left_out = at;
  };
  const auto is_over = [&](int at) { return report.ranks(at).phase() == v1::RANK_PHASE_EXITED; };
  std::vector<int> order;
  for (int at = 0; at < count; ++at) {
    if (is_over(at)) order.push_back(at);
  }
  for (int i = 0; i < count; ++i) {
    const int at = (next % count + i) % count;
    if (!is_over(at)) order.push_back(at);
  }
  for (const int at : order) fit(at);
  return std::max(first_left_out, 0);
}

Result<AgentReport> from_proto(const v1::AgentReport& message) {
  RETURN_IF_ERROR(check_name("node name", message.node(), false));
  RETURN_IF_ERROR(
      check_range("sequence", message.sequence(), 0, std::numeric_limits<int64_t>::max()));
  RETURN_IF_ERROR(check_size("ranks of the report", static_cast<size_t>(message.ranks_size()),
                             AgentLimits::kRanksOfNode));
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  RETURN_IF_ERROR(check_range("granted_sequence", message.granted_sequence(), 0, kMax));
  RETURN_IF_ERROR(check_range("peers_version", message.peers_version(), 0, kMax / 2));
  AgentReport report{.node = message.node(), .sequence = message.sequence()};
  report.granted_sequence = message.granted_sequence();
  report.peers_version = message.peers_version();
  RETURN_IF_ERROR(check_range("seen_epoch", message.seen_epoch(), 0, kMax / 2));
  RETURN_IF_ERROR(check_range("seen_seq", message.seen_seq(), 0, kMax));
  report.seen = {Epoch{message.seen_epoch()}, message.seen_seq()};
  RETURN_IF_ERROR(check_size("seen_proof", message.seen_proof().size(), AgentLimits::kProofBytes));
  report.seen_proof = message.seen_proof();
  report.is_news_only = message.is_news_only();
  if (message.has_facts()) {
    RETURN_IF_ERROR(from_proto(message.facts(), report.facts.emplace()));
    if (report.facts->name != report.node) {
      return invalid_argument("report of node {} carries facts of {}", report.node,
                              report.facts->name);
    }
  }
  if (message.has_checks()) {
    RETURN_IF_ERROR(from_proto(message.checks(), report.checks.emplace()));
  }
  if (message.has_gpu_readings()) {
    RETURN_IF_ERROR(from_proto(message.gpu_readings(), report.gpu_readings.emplace()));
  }
  if (message.has_hook()) RETURN_IF_ERROR(from_proto(message.hook(), report.hook.emplace()));
  report.ranks.resize(static_cast<size_t>(message.ranks_size()));
  for (int i = 0; i < message.ranks_size(); ++i) {
    RETURN_IF_ERROR(from_proto(message.ranks(i), report.ranks[static_cast<size_t>(i)]));
  }
  RETURN_IF_ERROR(sort_unique(report.ranks));
  return report;
}

}  // namespace hai
