#include "sim/baselines/easy.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/check.h"
#include "server/plan/eligible.h"
#include "sim/baselines/easy_queue.h"
#include "sim/baselines/first_fit.h"

namespace hai {
namespace {

class Easy final : public Planner {
 public:
  explicit Easy(TimeLeft time_left) : time_left_(std::move(time_left)) {}

  void update(const ClusterState& state, const Changes& changes) override {
    has_news_ = has_news_ || changes.everything || !changes.jobs.empty() || !changes.nodes.empty();
    pool_.update(state, changes);
    std::vector<JobId> jobs = changes.jobs;
    if (changes.everything) {
      jobs.clear();
      for (const auto& [id, job] : state.jobs()) jobs.push_back(id);
    }
    std::ranges::sort(jobs);
    jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
    for (JobId id : jobs) look_at(state, id);
  }

  Plan pass(const ClusterState& state, const Knobs&, UnixTime now) override {
    Plan plan;
    // Time alone lets nobody start: it only brings the ends nearer.
    if (!std::exchange(has_news_, false)) return plan;
    const Shadow none;
    auto head = waiting_.begin();
    for (; head != waiting_.end(); ++head) {
      Placement placement = place(pool_, head->second.demand, none);
      if (placement.empty()) break;
      start(state, head->first, std::move(placement), now, plan);
    }
    if (head != waiting_.end()) backfill(state, now, head->second.demand, plan);
    undo(plan);
    return plan;
  }

  PendingReason pending_reason(const ClusterState& state, const Job& job) const override {
    if (auto reason = not_eligible(state, job, state.epoch_began_at())) return *reason;
    return {PendingCode::resources, "it does not fit beside the jobs before it"};
  }

 private:
  struct Waiting {
    NodeDemand demand;
    Duration left{0};
  };
  struct Running {
    int attempt = 0;
    UnixTime end{};
    Placement placement;
  };

  void look_at(const ClusterState& state, JobId id) {
    if (auto known = waiting_.find(id); known != waiting_.end()) {
      queues_[known->second.demand].remove(id);
      waiting_.erase(known);
    }
    const Job* job = state.find(id);
    bool is_live = job != nullptr && job->has_live_attempt();
    if (auto known = running_.find(id); known != running_.end()) {
      if (is_live && known->second.attempt == job->attempt->number) return;
      by_end_.erase({known->second.end, id});
      running_.erase(known);
    }
    if (is_live) {
      Running running{job->attempt->number, job->attempt->placed_at + time_left_(*job), {}};
      for (const Rank& rank : job->attempt->ranks) running.placement.push_back(rank.place);
      auto placed = running_.emplace(id, std::move(running)).first;
      by_end_[{placed->second.end, id}] = &placed->second.placement;
    } else if (job != nullptr && job->is_waiting() && !not_eligible(state, *job, UnixTime::max())) {
      Waiting waiting{pool_.demand_of(*job->spec), time_left_(*job)};
      waiting_.emplace(id, waiting);
      queues_[waiting.demand].add(id, waiting.left);
    }
  }

  void start(const ClusterState& state, JobId id, Placement placement, UnixTime now, Plan& plan) {
    const Waiting& waiting = waiting_.at(id);
    for (const RankPlacement& place : placement) pool_.take(place);
    queues_[waiting.demand].remove(id);
    auto placed = running_.emplace(id, Running{0, now + waiting.left, placement}).first;
    by_end_[{placed->second.end, id}] = &placed->second.placement;
    plan.starts.push_back({id, std::move(placement), state.find(id)->priority});
  }

  // The plan is only a wish: update() brings what came of it.
  void undo(const Plan& plan) {
    for (const StartItem& item : plan.starts) {
      for (const RankPlacement& place : item.placement) pool_.give(place);
      auto running = running_.find(item.job);
      by_end_.erase({running->second.end, item.job});
      running_.erase(running);
      const Waiting& waiting = waiting_.at(item.job);
      queues_[waiting.demand].add(item.job, waiting.left);
    }
  }

  // ---- backfill

  // Of all jobs that fit beside the kept nodes the oldest first, until none does. What does not
  // fit once does not fit later in the same pass, so that a shape is left for good.
  void backfill(const ClusterState& state, UnixTime now, const NodeDemand& head, Plan& plan) {
    Shadow shadow = reserve(pool_, head, by_end_, now);
    const Duration window = shadow.at - now;
    std::vector<std::pair<const NodeDemand, EasyQueue>*> shapes;
    for (auto& shape : queues_) shapes.push_back(&shape);
    for (;;) {
      std::optional<JobId> next;
      std::erase_if(shapes, [&](const auto* shape) {
        std::optional<JobId> job;
        if (fits(pool_, shape->first, &shadow)) {
          job = shape->second.first();
        } else if (fits(pool_, shape->first, nullptr)) {
          job = shape->second.first_within(window);
        }
        if (job && (!next || *job < *next)) next = job;
        return !job;
      });
      if (!next) return;
      const Waiting& waiting = waiting_.at(*next);
      const bool is_short = waiting.left <= window;
      Placement placement = place(pool_, waiting.demand, is_short ? Shadow{} : shadow);
      CHECK(!placement.empty());
      for (const RankPlacement& place : placement) {
        int slot = pool_.slot_of(place.node);
        if (shadow.keeps(slot) && pool_.free(slot) == pool_.all(slot)) --shadow.kept_whole;
      }
      start(state, *next, std::move(placement), now, plan);
    }
  }

  TimeLeft time_left_;
  NodePool pool_;
  std::map<JobId, Waiting> waiting_;  // in submit order
  std::map<NodeDemand, EasyQueue> queues_;
  std::map<JobId, Running> running_;
  Endings by_end_;
  bool has_news_ = true;
};

}  // namespace

std::unique_ptr<Planner> make_easy_planner(TimeLeft time_left) {
  return std::make_unique<Easy>(std::move(time_left));
}

}  // namespace hai
