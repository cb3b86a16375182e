#include "server/plan/hypothesis.h"

#include <algorithm>

#include "server/plan/eligible.h"
#include "server/plan/order.h"

namespace hai {
namespace {

ClusterState empty_group(const ClusterState& state, const std::string& group) {
  StoredState stored;
  for (const auto& [id, node] : state.nodes()) {
    if (node.facts.group != group) continue;
    Node open = node;
    open.liveness = Liveness::up;
    open.scheduling = Scheduling::open;
    open.occupants.clear();
    open.held.clear();
    stored.nodes.push_back(std::move(open));
  }
  return ClusterState(std::move(stored));
}

}  // namespace

Hypothesis::Hypothesis(const ClusterState& state, const Knobs& knobs, UnixTime now, const Job& job)
    : knobs_(knobs), empty_(empty_group(state, job.spec->group)) {
  index_.capacity.rebuild(state);
  index_.ledger.rebuild(state);
  for (JobId id : state.live()) {
    index_.running.update(state, index_.capacity, index_.ledger, knobs, now, id);
  }
  index_.ledger.begin_pass(knobs, now);
  capacity_.rebuild(empty_);
  on_slot_.resize(capacity_.slots().size());

  demand_ = demand_of(capacity_, job, knobs, now);
  must_cross_ = demand_.may_cross_zones;
  find_level(state, now, job);
  UnixTime unused{};
  const int person = index_.ledger.find(job.user);
  requester_.job = &job;
  requester_.feedback_class = waiting_class(knobs, job, now, &unused);
  requester_.usage = person < 0 ? 0 : index_.ledger.usage(person);
  requester_.waited = std::max(Duration{0}, Duration(now - waiting_since(job)));
  crossing_ = static_cast<int>(index_.running.crossing().size());
  add_obstacles(state);
  for (int slot = 0; slot < static_cast<int>(on_slot_.size()); ++slot) refresh(slot);
}

// Jobs that hold nodes have their quota already.
void Hypothesis::find_level(const ClusterState& state, UnixTime now, const Job& job) {
  const Priority asked = order_level(knobs_, job, job.priority, now);
  requester_.level = asked == Priority::automatic ? kAutoCeiling : asked;
  const int person = index_.ledger.find(job.user);
  if (person < 0) return;
  Room& room = index_.ledger.room(state, person, job.spec->group);
  for (JobId id : state.reserved()) {
    const Job& holder = *state.find(id);
    if (id == job.id || holder.user != job.user || holder.spec->group != job.spec->group) continue;
    index_.ledger.use(room, holder.reservation->priority, quota_units(state, *holder.spec));
  }
  const int64_t units = quota_units(state, *job.spec);
  const auto level = room.level_for(asked, units);
  if (level) {
    requester_.level = *level;
  } else {
    quota_text_ = room.reason(asked, units).text;
  }
}

void Hypothesis::add_obstacles(const ClusterState& state) {
  for (const auto& [id, node] : empty_.nodes()) {
    const Node& real = *state.find(id);
    if (!real.takes_jobs()) {
      add({.kind = Obstacle::Kind::node, .node = id, .covers = {{id, real.all_gpus()}}});
    }
  }
  for (JobId id : state.live()) {
    const Running& running = *index_.running.find(id);
    const bool crosses = index_.running.crossing().contains(id);
    const bool may = index_.running.may_interrupt(knobs_, requester_, index_.ledger, running);
    Obstacle obstacle{.job = id, .crosses_zones = crosses};
    if (!may && running.job->spec->group == demand_.group) {
      for (const Rank& rank : running.job->attempt->ranks) obstacle.covers.push_back(rank.place);
    }
    if (!obstacle.covers.empty() || (must_cross_ && crosses)) add(std::move(obstacle));
  }
  for (JobId id : state.reserved()) {
    const Job& holder = *state.find(id);
    if (id == requester_.job->id) continue;
    const Reservation& reservation = *holder.reservation;
    const bool crosses =
        crosses_zones(state, reservation.placement.front().node, reservation.placement.back().node);
    crossing_ += crosses;
    Obstacle obstacle{.kind = Obstacle::Kind::reservation, .job = id, .crosses_zones = crosses};
    // One of lower level is taken back.
    if (reservation.priority >= requester_.level && holder.spec->group == demand_.group) {
      obstacle.covers = reservation.placement;
    }
    if (!obstacle.covers.empty() || (must_cross_ && crosses)) add(std::move(obstacle));
  }
}

void Hypothesis::add(Obstacle obstacle) {
  const int index = static_cast<int>(obstacles_.size());
  for (const RankPlacement& place : obstacle.covers) {
    on_slot_[capacity_.index_of(place.node)].emplace_back(index, place.gpus);
  }
  obstacles_.push_back(std::move(obstacle));
  is_away_.push_back(false);
}

void Hypothesis::take_away(int obstacle) {
  is_away_[obstacle] = true;
  crossing_ -= obstacles_[obstacle].crosses_zones;
  for (const RankPlacement& place : obstacles_[obstacle].covers) {
    refresh(capacity_.index_of(place.node));
  }
}

void Hypothesis::put_back(int obstacle) {
  is_away_[obstacle] = false;
  crossing_ += obstacles_[obstacle].crosses_zones;
  for (const RankPlacement& place : obstacles_[obstacle].covers) {
    refresh(capacity_.index_of(place.node));
  }
}

void Hypothesis::refresh(int index) {
  GpuSet covered;
  for (const auto& [obstacle, gpus] : on_slot_[index]) {
    if (!is_away_[obstacle]) covered = covered | gpus;
  }
  const Slot& slot = capacity_.slots()[index];
  const NodeId node = slot.node->id;
  capacity_.give(node, without(slot.all, covered));
  capacity_.ungive(node, covered);
}

int Hypothesis::crossing_too_many() const {
  return must_cross_ ? std::max(0, crossing_ - knobs_.max_cross_zone_jobs + 1) : 0;
}

Demand Hypothesis::demand_now() const {
  Demand demand = demand_;
  demand.may_cross_zones = must_cross_ && crossing_too_many() == 0;
  return demand;
}

bool Hypothesis::has_room() const { return place(capacity_, demand_now()).has_value(); }

bool Hypothesis::has_room_quick() const {
  return demand_.max_leaves > 0 ? has_room() : has_enough_nodes(capacity_, demand_now());
}

std::vector<int> Hypothesis::in_the_way(int slot, GpuSet gpus) const {
  std::vector<int> found;
  for (const auto& [obstacle, covered] : on_slot_[slot]) {
    if (!is_away_[obstacle] && !(covered & gpus).is_empty()) found.push_back(obstacle);
  }
  return found;
}

}  // namespace hai
