#include "server/plan/whatif.h"

#include <fmt/core.h>

#include <set>

#include "common/hostlist.h"
#include "server/plan/blocking_text.h"

namespace hai {
namespace {

constexpr int kRoundsMax = 200;

std::string why_leaves(const ClusterState& state, const Job& job) {
  const Attempt& attempt = *job.attempt;
  if (!attempt.suspended_for) return attempt.suspend_reason;
  const Job* other = state.find(attempt.suspended_for);
  if (other == nullptr || !other->reservation) return attempt.suspend_reason;
  return fmt::format("makes room for {}, priority {}", title(*other),
                     to_string(other->reservation->priority));
}

// Where it runs, by rank; empty if it does not.
std::vector<std::string> nodes_of(const ClusterState& state, JobId id) {
  std::vector<std::string> names;
  const Job* job = state.find(id);
  if (job == nullptr || !job->has_live_attempt()) return names;
  for (const Rank& rank : job->attempt->holding_ranks()) {
    names.push_back(state.find(rank.place.node)->facts.name);
  }
  return names;
}

std::string list(const std::vector<std::string>& names) { return format_hostlist(names); }

class Comparison {
 public:
  Comparison(const ClusterState& live, const Settled& before, const Settled& after)
      : live_(live), before_(before), after_(after) {}

  std::vector<JobDifference> run() {
    std::set<JobId> jobs;
    for (const Settled* settled : {&before_, &after_}) {
      const ClusterState& state = settled->cluster.state();
      jobs.insert(state.live().begin(), state.live().end());
      for (const auto& [order, id] : state.waiting()) jobs.insert(id);
    }
    for (JobId id : jobs) consider(id);
    return std::move(found_);
  }

 private:
  void consider(JobId id) {
    const Job* job = after_.cluster.state().find(id);
    if (job == nullptr || job->is_terminal()) return;
    const std::vector<std::string> now = nodes_of(live_, id);
    const std::vector<std::string> without = nodes_of(before_.cluster.state(), id);
    const std::vector<std::string> with = nodes_of(after_.cluster.state(), id);
    const bool is_new = live_.find(id) == nullptr;
    const bool runs = !now.empty();
    auto add = [&](Effect effect, std::string text) {
      found_.push_back({id, effect, std::move(text), with, runs ? now : without});
    };
    if (!with.empty() && without.empty()) {
      if (runs && with == now) return add(Effect::keeps_running, "keeps running on " + list(with));
      add(Effect::starts, fmt::format("starts on {}", list(with)));
    } else if (with.empty() && runs && !without.empty()) {
      add(Effect::suspended, fmt::format("is suspended on {}: {}", list(now), why_left(id)));
    } else if (with.empty() && (is_new || !without.empty())) {
      add(Effect::waits, "waits: " + after_.cluster.pending_reason(id).text);
    } else if (runs && with != without && with != now) {
      add(Effect::moves,
          fmt::format("moves from {} to {}: {}", list(now), list(with), why_left(id)));
    } else if (runs && with != without && with == now) {
      add(Effect::keeps_running, "keeps running on " + list(with));
    }
  }

  std::string why_left(JobId id) const {
    auto it = after_.why_left.find(id);
    return it == after_.why_left.end() ? "its attempt has ended" : it->second;
  }

  const ClusterState& live_;
  const Settled& before_;
  const Settled& after_;
  std::vector<JobDifference> found_;
};

}  // namespace

std::string_view to_string(Effect effect) {
  switch (effect) {
    case Effect::starts:
      return "starts";
    case Effect::suspended:
      return "suspended";
    case Effect::waits:
      return "waits";
    case Effect::moves:
      return "moves";
    case Effect::keeps_running:
      return "keeps_running";
  }
  return "starts";
}

Settled settle(ClusterState state, const Knobs& knobs, UnixTime now) {
  Settled settled{.cluster = VirtualCluster(std::move(state), knobs, now)};
  VirtualCluster& cluster = settled.cluster;
  for (int round = 0; round < kRoundsMax; ++round) {
    const VirtualCluster::Moves moves = cluster.pass();
    bool has_left = false;
    const std::set<JobId> live = cluster.state().live();
    for (JobId id : live) {
      const Job& job = *cluster.state().find(id);
      const Attempt& attempt = *job.attempt;
      if (attempt.end) {
        cluster.finish(id);
      } else if (attempt.state == AttemptState::suspending) {
        settled.why_left[id] = why_leaves(cluster.state(), job);
        cluster.suspend(id);
      } else {
        continue;
      }
      has_left = true;
    }
    if (moves.is_none && !has_left) break;
  }
  return settled;
}

std::vector<JobDifference> compare(const ClusterState& live, const Settled& before,
                                   const Settled& after) {
  return Comparison(live, before, after).run();
}

}  // namespace hai
