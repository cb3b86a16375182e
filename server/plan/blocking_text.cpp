#include "server/plan/blocking_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "common/count_of.h"
#include "common/hostlist.h"
#include "server/model/find_job.h"
#include "server/plan/explain.h"
#include "server/plan/order.h"

namespace hai {
namespace {

template <typename Places>
std::string nodes_text(const ClusterState& state, const Places& places) {
  std::vector<std::string> names;
  for (const auto& place : places) names.push_back(state.find(place.node)->facts.name);
  return format_hostlist(std::move(names));
}

std::string nodes_of(const ClusterState& state, const Attempt& attempt) {
  Placement places;
  for (const Rank& rank : attempt.ranks) places.push_back(rank.place);
  return nodes_text(state, places);
}

// To the second.
std::string moment(UnixTime time) {
  return format_rfc3339(std::chrono::floor<std::chrono::seconds>(time)).substr(0, 19) + "Z";
}

// The rules of VictimIndex::may_interrupt as sentences, in its order.
std::string protection(const Knobs& knobs, const Hypothesis& hypothesis, const Running& running) {
  const Requester& requester = hypothesis.requester();
  const Job& job = *running.job;
  const Attempt& attempt = *job.attempt;
  const std::string_view mine = to_string(requester.level);
  if (!hypothesis.demand().asks_gpus()) return "and a job without GPUs interrupts nobody";
  if (running.is_kept) return "and is interactive: it makes room for nobody";
  if (running.level > requester.level) {
    return fmt::format("at priority {}, above {}", to_string(running.level), mine);
  }
  if (attempt.state == AttemptState::suspending) {
    return fmt::format("and leaves for job {}", attempt.suspended_for.value);
  }
  if (job.user == requester.job->user) {
    return fmt::format("at priority {}; one's own jobs of a priority do not interrupt each other",
                       mine);
  }
  if (knobs.policy == Policy::fifo) {
    return fmt::format("at priority {}; jobs of a priority do not interrupt each other", mine);
  }
  if (!running.is_past_quantum) {
    const std::string until =
        attempt.running_at ? " until " + moment(*attempt.running_at + quantum_of(knobs, job)) : "";
    return fmt::format("at priority {}; it may run{} before others of it take turns", mine, until);
  }
  if (running.is_open && hypothesis.index().running.may_interrupt(
                             knobs, requester, hypothesis.index().ledger, running)) {
    return fmt::format(
        "at priority {}; interrupting it now would lose more than this job has "
        "waited for",
        mine);
  }
  return fmt::format("at priority {}; it or its user has had no more GPU time than this one", mine);
}

}  // namespace

std::string title(const Job& job) {
  return fmt::format("job {} ({}) of {}", shown_id(job), job.spec->name, job.user);
}

std::string node_text(const Node& node) {
  if (node.liveness != Liveness::up) {
    return fmt::format("{} is {}{}", node.facts.name, to_string(node.liveness),
                       node.liveness_reason.empty() ? "" : ": " + node.liveness_reason);
  }
  std::string text = fmt::format("{} is {}", node.facts.name, to_string(node.scheduling));
  if (!node.scheduling_reason.empty()) text += ": " + node.scheduling_reason;
  if (!node.scheduling_by.empty()) text += fmt::format(" (by {})", node.scheduling_by);
  return text;
}

std::string victim_text(const ClusterState& state, const Knobs& knobs, const Hypothesis& hypothesis,
                        const Job& job) {
  const Running& running = *hypothesis.index().running.find(job.id);
  return fmt::format("{} runs on {} {}", title(job), nodes_of(state, *job.attempt),
                     protection(knobs, hypothesis, running));
}

std::string leaving_text(const ClusterState& state, const Job& job) {
  const Attempt& attempt = *job.attempt;
  return fmt::format("{} saves and leaves {}{}", title(job), nodes_of(state, attempt),
                     attempt.suspend_deadline
                         ? fmt::format(", by {} at the latest", moment(*attempt.suspend_deadline))
                         : "");
}

std::string reservation_text(const ClusterState& state, const Job& holder) {
  return fmt::format("{} is held for {}, priority {}",
                     nodes_text(state, holder.reservation->placement), title(holder),
                     to_string(holder.reservation->priority));
}

BlockingFact hardware_fact(const Knobs& knobs, const Hypothesis& hypothesis) {
  const Demand& demand = hypothesis.demand();
  if (demand.may_cross_zones && knobs.max_cross_zone_jobs == 0) {
    return {BlockingKind::cross_zone,
            fmt::format("no zone of {} is large enough, and no job may run across zones here",
                        demand.group)};
  }
  const std::string where = demand.zone.empty() ? demand.group : demand.group + "#" + demand.zone;
  std::string text = fmt::format("{} has no {}", where,
                                 demand.nodes == 1 ? "node" : count_of(demand.nodes, "node"));
  if (demand.gpus > 0) text += " with " + count_of(demand.gpus, "GPU");
  const std::string host = host_text(demand.ask);
  if (!host.empty()) text += (demand.gpus > 0 ? " and " : " with ") + host;
  if (demand.filter != nullptr) text += fmt::format(" ({})", filter_text(*demand.filter));
  if (demand.max_leaves > 0) {
    text += fmt::format(" within {} lea{}; after {} of waiting any will do", demand.max_leaves,
                        demand.max_leaves == 1 ? "f" : "ves", format_duration(knobs.tight_wait));
  }
  return {BlockingKind::hardware, text};
}

}  // namespace hai
