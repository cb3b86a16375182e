#include "server/control/engine/reconcile.h"

#include <algorithm>
#include <optional>
#include <set>

#include "common/array_range.h"

namespace hai {
namespace {

// The agent and its shims keep the suspend deadline; this is how late they may be before the server
// orders a kill.
constexpr Duration kDeadlineSlack = 15s;

OrderKind kind_of(const OrderBody& body) {
  if (std::holds_alternative<LaunchRank>(body)) return OrderKind::launch;
  if (std::holds_alternative<SuspendRank>(body)) return OrderKind::suspend;
  if (std::holds_alternative<ContinueRank>(body)) return OrderKind::resume;
  if (std::holds_alternative<KillRank>(body)) return OrderKind::kill;
  return OrderKind::forget;
}

std::optional<OrderBody> wanted_for(const ClusterState& state, const Job& job, int index,
                                    const RankStatus* status, const TurnOfNode& turn,
                                    PlacesOfTurn& places) {
  const UnixTime now = turn.now;
  const Attempt& attempt = *job.attempt;
  const Rank& rank = attempt.ranks[index];
  RankKey key{job.id, attempt.number, index};
  bool exited = status != nullptr && status->phase == RankPhase::exited;
  if (is_gone(rank.state)) {
    if (status == nullptr) return std::nullopt;
    if (exited) return ForgetRank{key};
    return KillRank{
        key};  // Given up for lost, and here it is: it must not run beside its successor.
  }
  if (exited) return std::nullopt;  // Its end is being made durable in this turn.
  if (attempt.end) return KillRank{key, attempt.end->take_evidence};
  if (attempt.state == AttemptState::suspending) {
    if (now > *attempt.suspend_deadline + kDeadlineSlack) return KillRank{key};
    // One not seen yet may run all the same: it has its grace, too, and may be told to go on.
    if (status != nullptr && status->suspend_notified) return std::nullopt;
    return SuspendRank{key, std::max(Duration{0}, *attempt.suspend_deadline - now),
                       job.is_told_by_signal() && !turn.is_listening};
  }
  if (status == nullptr) return launch_order(state, job, index, places);
  if (status->suspend_notified) return ContinueRank{key};
  return std::nullopt;
}

}  // namespace

RankPlaces PlacesOfTurn::of(const ClusterState& state, const Job& job) {
  auto [found, is_new] = places_.try_emplace(job.id);
  if (!is_new) return found->second;
  std::vector<RankPlace> places;
  places.reserve(job.attempt->ranks.size());
  const std::vector<Rank>& ranks = job.attempt->ranks;
  const bool are_alike = std::ranges::all_of(ranks, [&](const Rank& rank) {
    return rank.place.gpus.count() == ranks.front().place.gpus.count();
  });
  for (const Rank& rank : ranks) {
    const NodeFacts& facts = state.find(rank.place.node)->facts;
    places.push_back({facts.name, facts.address, facts.zone, facts.leaf,
                      are_alike ? 0 : rank.place.gpus.count()});
  }
  return found->second = std::move(places);
}

// A task's own variables win, as over all of hai's.
static void add_array_variables(const ClusterState& state, const ArrayTask& task,
                                std::map<std::string, std::string>& environments) {
  const Job* array = state.find(task.array);
  if (array == nullptr) return;
  const ArrayRange range = ArrayRange::parse(array->spec->array).value();
  for (const std::string prefix : {"HAI_ARRAY_", "SLURM_ARRAY_"}) {
    environments.emplace(prefix + "JOB_ID", std::to_string(task.array.value));
    environments.emplace(prefix + "TASK_ID", std::to_string(task.index));
    environments.emplace(prefix + "TASK_COUNT", std::to_string(range.count()));
    environments.emplace(prefix + "TASK_MIN", std::to_string(range.first()));
    environments.emplace(prefix + "TASK_MAX", std::to_string(range.last()));
    environments.emplace(prefix + "TASK_STEP", std::to_string(range.step()));
  }
}

LaunchRank launch_order(const ClusterState& state, const Job& job, int index,
                        PlacesOfTurn& places) {
  const JobSpec& spec = *job.spec;
  const Attempt& attempt = *job.attempt;
  const Rank& rank = attempt.ranks[index];
  const Node& node = *state.find(rank.place.node);
  LaunchRank order;
  order.key = {job.id, attempt.number, index};
  order.job_name = spec.name;
  order.user = job.user;
  order.workspace = spec.workspace;
  order.entrypoint = spec.entrypoint;
  order.parameters = spec.parameters;
  order.environments = spec.environments;
  order.secrets = spec.secrets;
  if (job.array_task) add_array_variables(state, *job.array_task, order.environments);
  order.launch = spec.launch;
  order.env_style = spec.env_style;
  order.gpus = rank.place.gpus;
  order.exclusive = attempt.exclusive;
  order.cpus = spec.cpus_per_node;
  order.memory_bytes = spec.memory_per_node_bytes;
  const int gpus = rank.place.gpus.count();
  const HostAmounts amounts = host_amounts(node.facts, host_use(node.facts, gpus, host_ask(spec)));
  // The agent knows a share's proportion of the memory; without GPUs there is none to go by.
  if (order.cpus == 0 && !attempt.exclusive) order.cpus = std::max(1, amounts.cpus);
  if (order.memory_bytes == 0 && !spec.asks_gpus()) order.memory_bytes = amounts.memory_bytes;
  order.ranks = places.of(state, job);
  order.master_port = attempt.master_port;
  if (spec.suspend.has_signal()) order.suspend_signal = spec.suspend.signal;
  order.suspend_exit_code = spec.suspend.exit_code;
  order.watchdog = spec.watchdog;
  if (job.checkpoint) order.checkpoint = job.checkpoint->path;
  order.whole_life_state = job.whole_life_state;
  order.program = spec.program;
  order.image = spec.image;
  order.is_validation = spec.is_validation;
  return order;
}

std::vector<OrderBody> reconcile(const ClusterState& state, const Knobs& knobs, Session& session,
                                 const TurnOfNode& turn, PlacesOfTurn& places) {
  std::vector<OrderBody> orders;
  std::set<RankKey> seen;
  std::set<RankKey> wanted;
  std::vector<RankKey> held;
  auto add = [&](const RankKey& key, OrderBody body) {
    wanted.insert(key);
    const OrderKind kind = kind_of(body);
    auto [it, is_new] = session.sent.try_emplace(key);
    SentOrder& sent = it->second;
    if (is_new || sent.kind != kind) {
      sent = {kind, turn.mono_now, kind == OrderKind::forget};
    } else if (!sent.is_held) {
      if (turn.mono_now - sent.at < knobs.resend_after) return;
      sent.at = turn.mono_now;
    }
    if (sent.is_held) return held.push_back(key);
    orders.push_back(std::move(body));
  };
  for (const Occupant& occupant : state.find(session.node)->occupants) {
    const Job& job = *state.find(occupant.job);
    RankKey key{occupant.job, job.attempt->number, occupant.rank};
    seen.insert(key);
    auto it = session.ranks.find(key);
    const RankStatus* status = it == session.ranks.end() ? nullptr : &it->second;
    if (auto body = wanted_for(state, job, occupant.rank, status, turn, places))
      add(key, std::move(*body));
  }
  for (const auto& [key, status] : session.ranks) {
    if (!seen.insert(key).second) continue;
    if (status.phase == RankPhase::exited) {
      add(key, ForgetRank{key});
    } else {
      add(key, KillRank{key});
    }
  }
  const bool is_addressed = turn.is_addressed || !orders.empty();
  for (const RankKey& key : held) {
    SentOrder& sent = session.sent.at(key);
    if (!is_addressed && turn.mono_now - sent.at < kForgetPause) continue;
    sent = {OrderKind::forget, turn.mono_now};
    orders.push_back(ForgetRank{key});
  }
  // What has shown its effect is waited for no more: nodes that wait for nothing cost a tick
  // nothing.
  std::erase_if(session.sent, [&](const auto& entry) { return !wanted.contains(entry.first); });
  return orders;
}

}  // namespace hai
