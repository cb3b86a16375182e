// Whole nodes out of pieces.

#include <algorithm>

#include "server/plan/cost.h"
#include "server/plan/pass_state.h"

namespace hai {
namespace {

// More nodes than that are not made whole at once.
constexpr int kNodesMax = 16;

// A node whose users could all be moved.
struct Target {
  int slot = 0;
  int used = 0;      // GPUs that have to move
  int64_t cost = 0;  // GPU-microseconds
};

class Defragmentation {
 public:
  Defragmentation(PassState& pass, const Scattered& gang)
      : pass_(pass), capacity_(pass.index.capacity), gang_(gang) {}

  std::optional<ReserveItem> run() {
    const int64_t moved = pass_.state.moves_since(pass_.now - std::chrono::hours(1));
    moves_left_ = pass_.knobs.defrag_moves_per_hour - moved;
    if (moves_left_ <= 0) return std::nullopt;
    Demand demand = demand_of(*gang_.bucket->shape, *gang_.job);
    demand.may_cross_zones = false;
    for (int zone : zones_of(capacity_, demand)) {
      const int missing = demand.nodes - capacity_.fit_count(zone, demand.size());
      if (missing <= 0 || missing > kNodesMax) continue;
      demand.zone = capacity_.domains()[zone].name;
      if (auto found = in_zone(zone, missing, demand)) return found;
    }
    return std::nullopt;
  }

 private:
  std::optional<ReserveItem> in_zone(int zone, int missing, const Demand& demand) {
    std::vector<Target> targets = targets_of(zone);
    if (static_cast<int>(targets.size()) < missing) return std::nullopt;
    std::ranges::sort(targets, {}, [](const Target& target) {
      return std::tuple(target.used, target.cost, target.slot);
    });
    targets.resize(static_cast<size_t>(missing));
    if (!pays(targets)) return std::nullopt;
    const Capacity::Mark mark = capacity_.mark();
    std::optional<ReserveItem> found;
    if (move_all(targets)) {
      if (auto placement = place(capacity_, demand)) {
        found = ReserveItem{gang_.job->id, *placement, gang_.level, victims_of(*placement), true};
      }
    }
    capacity_.undo_to(mark);
    if (found && static_cast<int64_t>(found->victims.size()) > moves_left_) return std::nullopt;
    if (found && found->victims.empty()) return std::nullopt;
    return found;
  }

  std::vector<Target> targets_of(int zone) const {
    std::vector<Target> targets;
    const Domain& part = capacity_.domains()[zone];
    for (int index = part.first_slot; index < part.end_slot; ++index) {
      const Slot& slot = capacity_.slots()[index];
      // Only pieces are worth it: a full node wins nothing by changing its user.
      if (!slot.usable || slot.free.is_empty() || slot.free == slot.all) continue;
      if (!slot.held.is_empty()) continue;
      Target target{.slot = index};
      GpuSet accounted = slot.free;
      bool is_movable = true;
      for (const Occupant& occupant : slot.node->occupants) {
        const Running* running = pass_.index.running.find(occupant.job);
        is_movable = is_movable && running != nullptr && may_move(*running);
        if (!is_movable) break;
        accounted = accounted | occupant.gpus;
        target.used += running->gpus;
        target.cost += suspend_cost(*running->job, pass_.knobs, pass_.now);
      }
      // What the pass itself has placed there is not among the occupants.
      if (is_movable && accounted == slot.all) targets.push_back(target);
    }
    return targets;
  }

  // A share that reports what it saves, of no higher level than the gang. How long ago it saved is
  // a matter of cost: only those pay that have saved lately.
  bool may_move(const Running& running) const {
    if (running.gpus == 0) return true;  // It leaves, wherever it goes.
    const Job& job = *running.job;
    if (job.attempt->ranks.size() != 1 || job.attempt->state != AttemptState::running) return false;
    if (running.is_leaving || running.is_asked || running.is_kept) return false;
    if (running.level > gang_.level) return false;
    return !job.held && job.checkpoint && job.checkpoint->at >= *job.attempt->running_at;
  }

  // The GPUs that are idle now would work for a quantum at least: is that worth the moves?
  bool pays(const std::vector<Target>& targets) const {
    int64_t idle = 0;
    int64_t cost = 0;
    for (const Target& target : targets) {
      idle += capacity_.slots()[target.slot].free.count();
      cost += target.cost;
    }
    return idle * pass_.knobs.min_quantum.count() > cost;
  }

  // Takes room beside others for everybody who has to move; false if one finds none.
  bool move_all(const std::vector<Target>& targets) {
    std::vector<int> slots;
    for (const Target& target : targets) slots.push_back(target.slot);
    for (int from : slots) {
      for (const Occupant& occupant : capacity_.slots()[from].node->occupants) {
        if (occupant.gpus.is_empty()) continue;
        if (!move(*pass_.state.find(occupant.job), occupant.gpus.count(), slots)) return false;
      }
    }
    for (int from : slots) {
      const Node& node = *capacity_.slots()[from].node;
      for (const Occupant& occupant : node.occupants) {
        capacity_.give(node.id, occupant.gpus, occupant.ask);
      }
    }
    return true;
  }

  // Into the smallest hole, and never into a whole node.
  bool move(const Job& job, int gpus, const std::vector<int>& targets) {
    const NodeGroup* group = capacity_.group(job.spec->group);
    if (group == nullptr) return false;  // All its nodes have changed to others.
    std::pair<int, int> best{GpuSet::kMax + 1, 0};
    GpuSet places;
    for (int index = group->first_slot; index < group->end_slot; ++index) {
      const Slot& slot = capacity_.slots()[index];
      if (slot.free.is_empty() || slot.free == slot.all) continue;
      if (std::ranges::find(targets, index) != targets.end()) continue;
      if (!job.spec->zone.empty() && slot.node->facts.zone != job.spec->zone) continue;
      const Fit fit = best_fit(slot, {gpus, host_ask(*job.spec)});
      if (!fit.fits || fit.hole >= best.first) continue;
      best = {fit.hole, index};
      places = fit.gpus;
    }
    if (places.is_empty()) return false;
    capacity_.take({{capacity_.slots()[best.second].node->id, places}}, host_ask(*job.spec));
    return true;
  }

  std::vector<JobId> victims_of(const Placement& placement) const {
    std::set<JobId> victims;
    for (const RankPlacement& place : placement) {
      for (const Occupant& occupant : pass_.state.find(place.node)->occupants) {
        victims.insert(occupant.job);
      }
    }
    return {victims.begin(), victims.end()};
  }

  PassState& pass_;
  Capacity& capacity_;
  const Scattered gang_;
  int64_t moves_left_ = 0;
};

}  // namespace

std::optional<ReserveItem> defragment(PassState& pass, const Scattered& gang) {
  return Defragmentation(pass, gang).run();
}

}  // namespace hai
