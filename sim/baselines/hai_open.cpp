#include "sim/baselines/hai_open.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/rng.h"
#include "server/plan/eligible.h"
#include "sim/baselines/node_pool.h"

namespace hai {
namespace {

class HaiOpen final : public Planner {
 public:
  explicit HaiOpen(uint64_t seed) : rng_(seed) {}

  void update(const ClusterState& state, const Changes& changes) override {
    has_news_ = has_news_ || changes.everything || !changes.jobs.empty() || !changes.nodes.empty();
    pool_.update(state, changes);
    if (!changes.everything) {
      for (JobId id : changes.jobs) look_at(state, id);
      return;
    }
    queue_.clear();
    keys_.clear();
    for (const auto& [id, job] : state.jobs()) look_at(state, id);
  }

  Plan pass(const ClusterState& state, const Knobs&, UnixTime now) override {
    Plan plan;
    if (!std::exchange(has_news_, false)) return plan;
    int64_t nodes = 0;
    int64_t share_gpus = 0;
    auto entry = queue_.begin();
    for (; entry != queue_.end(); ++entry) {
      const Entry& job = entry->second;
      int64_t more_nodes = job.demand.is_share() ? 0 : job.demand.nodes;
      int64_t more_gpus = job.demand.is_share() ? job.demand.gpus : 0;
      if (nodes + more_nodes + nodes_of(share_gpus + more_gpus) > pool_.usable()) break;
      nodes += more_nodes;
      share_gpus += more_gpus;
      if (!job.is_live) start(state, entry->first.second, job, now, plan);
    }
    for (; entry != queue_.end() && live_ > 0; ++entry) {
      if (entry->second.is_live) suspend(state, entry->first.second, plan);
    }
    for (const StartItem& item : plan.starts) {
      for (const RankPlacement& place : item.placement) pool_.give(place);
    }
    return plan;
  }

  PendingReason pending_reason(const ClusterState& state, const Job& job) const override {
    if (auto reason = not_eligible(state, job, state.epoch_began_at())) return *reason;
    return {PendingCode::resources,
            fmt::format("the jobs before it take the {} nodes", pool_.usable())};
  }

 private:
  using Key = std::pair<int, JobId>;  // −priority, id
  struct Entry {
    NodeDemand demand;
    bool is_live = false;
  };

  void look_at(const ClusterState& state, JobId id) {
    if (auto known = keys_.find(id); known != keys_.end()) {
      auto entry = queue_.find(known->second);
      live_ -= entry->second.is_live ? 1 : 0;
      queue_.erase(entry);
      keys_.erase(known);
    }
    const Job* job = state.find(id);
    if (job == nullptr || job->is_terminal()) return;
    Key key{-static_cast<int>(job->priority), id};
    queue_.emplace(key, Entry{pool_.demand_of(*job->spec), job->has_live_attempt()});
    keys_.emplace(id, key);
    live_ += job->has_live_attempt() ? 1 : 0;
  }

  int64_t nodes_of(int64_t share_gpus) const {
    int64_t gpus = std::max(1, pool_.gpus_of_node());
    return (share_gpus + gpus - 1) / gpus;
  }

  void start(const ClusterState& state, JobId id, const Entry& entry, UnixTime now, Plan& plan) {
    const Job& job = *state.find(id);
    if (not_eligible(state, job, now)) return;
    Placement placement =
        entry.demand.is_share() ? place_share(entry.demand.gpus) : place_whole(entry.demand.nodes);
    if (placement.empty()) return;
    for (const RankPlacement& place : placement) pool_.take(place);
    plan.starts.push_back({id, std::move(placement), job.priority});
  }

  Placement place_whole(int count) {
    if (std::ssize(pool_.whole()) < count) return {};
    std::vector<int> free(pool_.whole().begin(), pool_.whole().end());
    Placement placement;
    for (int i = 0; i < count; ++i) {
      std::swap(free[i], free[i + static_cast<int>(rng_.below(free.size() - i))]);
      placement.push_back({pool_.id(free[i]), pool_.all(free[i])});
    }
    return placement;
  }

  Placement place_share(int gpus) {
    std::vector<int> slots;
    for (int block : {1, 2, 4}) {
      if (block < gpus) continue;
      const std::set<int>& more = pool_.with_block(block);
      slots.insert(slots.end(), more.begin(), more.end());
    }
    if (slots.empty()) slots.assign(pool_.whole().begin(), pool_.whole().end());
    if (slots.empty()) return {};
    int slot = rng_.pick(slots);
    return {{pool_.id(slot), NodePool::block(pool_.free(slot), gpus)}};
  }

  static void suspend(const ClusterState& state, JobId id, Plan& plan) {
    const Attempt& attempt = *state.find(id)->attempt;
    if (attempt.end || attempt.state == AttemptState::suspending) return;
    plan.suspends.push_back({id, "the jobs before it take all nodes"});
  }

  Rng rng_;
  NodePool pool_;
  std::map<Key, Entry> queue_;  // unfinished jobs, running ones too
  std::map<JobId, Key> keys_;
  int64_t live_ = 0;
  bool has_news_ = true;
};

}  // namespace

std::unique_ptr<Planner> make_hai_open_planner(uint64_t seed) {
  return std::make_unique<HaiOpen>(seed);
}

}  // namespace hai
