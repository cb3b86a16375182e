#include "sim/baselines/easy.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/check.h"
#include "server/plan/eligible.h"
#include "sim/baselines/easy_queue.h"
#include "sim/baselines/node_pool.h"

namespace hai {
namespace {

// When the head of the queue can start, and the nodes that are kept for it until then.
struct Reservation {
  UnixTime at = UnixTime::max();
  std::vector<bool> kept;  // by slot; empty = none
  int kept_whole = 0;      // of the kept ones, how many are free as a whole now
  bool keeps(int slot) const { return !kept.empty() && kept[slot]; }
};

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
    // Time alone lets nobody start: it only brings the reservation nearer.
    if (!std::exchange(has_news_, false)) return plan;
    const Reservation none;
    auto head = waiting_.begin();
    for (; head != waiting_.end(); ++head) {
      Placement placement = place(head->second.demand, none);
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
      by_end_.insert({running.end, id});
      running_.emplace(id, std::move(running));
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
    by_end_.insert({now + waiting.left, id});
    running_.emplace(id, Running{0, now + waiting.left, placement});
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

  // Of all jobs that fit beside the reservation the oldest first, until none does. What does not
  // fit once does not fit later in the same pass, so that a shape is left for good.
  void backfill(const ClusterState& state, UnixTime now, const NodeDemand& head, Plan& plan) {
    Reservation reservation = reserve(head, now);
    const Duration window = reservation.at - now;
    std::vector<std::pair<const NodeDemand, EasyQueue>*> shapes;
    for (auto& shape : queues_) shapes.push_back(&shape);
    for (;;) {
      std::optional<JobId> next;
      std::erase_if(shapes, [&](const auto* shape) {
        std::optional<JobId> job;
        if (fits(shape->first, &reservation)) {
          job = shape->second.first();
        } else if (fits(shape->first, nullptr)) {
          job = shape->second.first_within(window);
        }
        if (job && (!next || *job < *next)) next = job;
        return !job;
      });
      if (!next) return;
      const Waiting& waiting = waiting_.at(*next);
      const bool is_short = waiting.left <= window;
      Placement placement = place(waiting.demand, is_short ? Reservation{} : reservation);
      CHECK(!placement.empty());
      for (const RankPlacement& place : placement) {
        int slot = pool_.slot_of(place.node);
        if (reservation.keeps(slot) && pool_.free(slot) == pool_.all(slot))
          --reservation.kept_whole;
      }
      start(state, *next, std::move(placement), now, plan);
    }
  }

  // Lets the running jobs end one after the other until the head of the queue fits.
  Reservation reserve(const NodeDemand& head, UnixTime now) const {
    Reservation reservation;
    std::vector<GpuSet> free;
    for (int slot = 0; slot < pool_.size(); ++slot) free.push_back(pool_.free(slot));
    std::vector<int> freed;  // as a whole
    const auto free_now = std::ssize(pool_.whole());
    for (const auto& [end, id] : by_end_) {
      for (const RankPlacement& place : running_.at(id).placement) {
        int slot = pool_.slot_of(place.node);
        if (!pool_.is_usable(slot)) continue;
        free[slot] = free[slot] | place.gpus;
        if (free[slot] == pool_.all(slot)) freed.push_back(slot);
        if (!head.is_share() || NodePool::block(free[slot], head.gpus).is_empty()) continue;
        reservation.at = std::max(end, now);
        reservation.kept.assign(pool_.size(), false);
        reservation.kept[slot] = true;
        return reservation;
      }
      if (head.is_share() || free_now + std::ssize(freed) < head.nodes) continue;
      reservation.at = std::max(end, now);
      keep_whole(head.nodes, freed, reservation);
      return reservation;
    }
    return reservation;
  }

  // Nodes that are not free yet first; then the last in order, which first fit takes last.
  void keep_whole(int nodes, const std::vector<int>& freed, Reservation& reservation) const {
    reservation.kept.assign(pool_.size(), false);
    for (int slot : freed) {
      if (nodes == 0) return;
      reservation.kept[slot] = true;
      --nodes;
    }
    for (auto slot = pool_.whole().rbegin(); nodes > 0; ++slot, --nodes) {
      reservation.kept[*slot] = true;
      ++reservation.kept_whole;
    }
  }

  // ---- first fit

  // Whether place() would find room; beside the reservation if there is one.
  bool fits(const NodeDemand& demand, const Reservation* reservation) const {
    if (demand.is_share())
      return first_for_share(demand.gpus, reservation ? *reservation : Reservation{}) <
             pool_.size();
    return std::ssize(pool_.whole()) - (reservation ? reservation->kept_whole : 0) >= demand.nodes;
  }

  Placement place(const NodeDemand& demand, const Reservation& reservation) const {
    if (demand.is_share()) {
      int slot = first_for_share(demand.gpus, reservation);
      if (slot == pool_.size()) return {};
      return {{pool_.id(slot), NodePool::block(pool_.free(slot), demand.gpus)}};
    }
    if (!fits(demand, &reservation)) return {};
    Placement placement;
    for (int slot : pool_.whole()) {
      if (std::ssize(placement) == demand.nodes) break;
      if (!reservation.keeps(slot)) placement.push_back({pool_.id(slot), pool_.all(slot)});
    }
    return placement;
  }

  int first_for_share(int gpus, const Reservation& reservation) const {
    int best = first_open(pool_.whole(), reservation);
    for (int block : {1, 2, 4}) {
      if (block >= gpus) best = std::min(best, first_open(pool_.with_block(block), reservation));
    }
    return best;
  }

  int first_open(const std::set<int>& slots, const Reservation& reservation) const {
    for (int slot : slots) {
      if (!reservation.keeps(slot)) return slot;
    }
    return pool_.size();
  }

  TimeLeft time_left_;
  NodePool pool_;
  std::map<JobId, Waiting> waiting_;  // in submit order
  std::map<NodeDemand, EasyQueue> queues_;
  std::map<JobId, Running> running_;
  std::set<std::pair<UnixTime, JobId>> by_end_;
  bool has_news_ = true;
};

}  // namespace

std::unique_ptr<Planner> make_easy_planner(TimeLeft time_left) {
  return std::make_unique<Easy>(std::move(time_left));
}

}  // namespace hai
