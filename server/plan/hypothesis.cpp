#include "server/plan/hypothesis.h"

#include <algorithm>

#include "server/plan/cost.h"
#include "server/plan/eligible.h"
#include "server/plan/order.h"
#include "server/plan/preempt.h"

namespace hai {
namespace {

ClusterState empty_group(const ClusterState& state, const std::string& group) {
  StoredState stored;
  for (const auto& [id, node] : state.nodes()) {
    if (node.facts.group != group || node.removed_at) continue;
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

Hypothesis::Hypothesis(const ClusterState& state, const Knobs& knobs, UnixTime now, const Job& job,
                       const std::vector<JobId>& gone)
    : knobs_(knobs), now_(now), empty_(empty_group(state, job.spec->group)) {
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
  find_reservations(state, now, job);
  requester_.job = &job;
  find_level(state, now, job, gone);
  UnixTime unused{};
  const int person = index_.ledger.find(job.user);
  requester_.feedback_class = waiting_class(knobs, job, now, &unused);
  requester_.usage = person < 0 ? 0 : index_.ledger.usage(person);
  requester_.waited = std::max(Duration{0}, Duration(now - waiting_since(job)));
  crossing_ = static_cast<int>(index_.running.crossing().size());
  add_obstacles(state);
  for (int slot = 0; slot < static_cast<int>(on_slot_.size()); ++slot) refresh(slot);
}

// Those that the next pass would not give back; they have their quota already.
void Hypothesis::find_reservations(const ClusterState& state, UnixTime now, const Job& job) {
  for (JobId id : state.reserved()) {
    const Job& holder = *state.find(id);
    const Reservation& reservation = *holder.reservation;
    if (id == job.id || not_eligible(state, holder, now)) continue;
    const bool is_usable =
        std::ranges::all_of(reservation.placement, [&](const RankPlacement& place) {
          const Node& node = *state.find(place.node);
          return node.takes_jobs() && without(place.gpus, node.all_gpus()).is_empty();
        });
    if (!is_usable) continue;
    Room& room = index_.ledger.room(state, index_.ledger.find(holder.user), holder.spec->group);
    const int64_t units = quota_units(state, *holder.spec);
    if (!room.has_room(reservation.priority, units)) continue;
    index_.ledger.use(room, reservation.priority, units);
    reservations_.push_back(&holder);
  }
}

void Hypothesis::find_level(const ClusterState& state, UnixTime now, const Job& job,
                            const std::vector<JobId>& gone) {
  asked_ = order_level(knobs_, job, job.priority, now);
  units_ = quota_units(state, *job.spec);
  requester_.level = asked_ == Priority::automatic ? kAutoCeiling : asked_;
  const int person = index_.ledger.find(job.user);
  if (person < 0) return;
  room_ = &index_.ledger.room(state, person, job.spec->group);
  requester_.level = room_without(state, gone).level_for(asked_, units_).value_or(requester_.level);
}

Room Hypothesis::room_without(const ClusterState& state, const std::vector<JobId>& gone) const {
  Room room = *room_;
  for (JobId id : gone) {
    const Job& other = *state.find(id);
    if (other.user != requester_.job->user || other.spec->group != demand_.group) continue;
    const Priority level =
        other.has_live_attempt() ? other.attempt->priority : other.reservation->priority;
    room.use(level, -quota_units(state, *other.spec));
  }
  return room;
}

std::string Hypothesis::quota_text(const ClusterState& state,
                                   const std::vector<JobId>& gone) const {
  if (room_ == nullptr || room_without(state, gone).level_for(asked_, units_)) return "";
  return room_->reason(asked_, units_).text;
}

// Of its own level only as many as it may cost together, the cheapest first: an approximation of
// preempt.cpp, which asks for those that it needs.
std::set<JobId> Hypothesis::find_interruptible(const ClusterState& state) const {
  std::set<JobId> found;
  if (!demand_.asks_gpus()) return found;
  for (JobId id : state.live()) {
    const Running& running = *index_.running.find(id);
    if (running.is_leaving || running.gpus == 0 || running.level < requester_.level) {
      found.insert(id);
    }
  }
  const NodeGroup* group = capacity_.group(demand_.group);
  const int64_t gpus =
      group == nullptr ? 0 : demand_.nodes * (demand_.gpus == 0 ? group->gpus : demand_.gpus);
  int64_t budget = gpus * (requester_.waited.count() / 100) * knobs_.interrupt_percent;
  for (const OpenVictim& victim : index_.running.open_of(requester_.level, knobs_, now_)) {
    const Running& running = *victim.running;
    if (running.job->spec->group != demand_.group) continue;
    if (!index_.running.may_interrupt(knobs_, requester_, index_.ledger, running)) continue;
    // One that is too dear by itself leaves the others what there is.
    const int64_t price = victim.price_per_gpu * running.gpus;
    if (price > budget) continue;
    budget -= price;
    found.insert(running.id);
  }
  return found;
}

bool Hypothesis::can_make_room() {
  const int crossing = crossing_too_many();
  Demand demand = demand_;
  demand.may_cross_zones = must_cross_ && crossing == 0;
  OpenLists open(index_.running, knobs_, now_);
  const PreemptContext context{index_.capacity, index_.running, open, index_.ledger, knobs_, now_};
  return place(index_.capacity, demand) || preempt(context, demand, requester_);
}

void Hypothesis::add_obstacles(const ClusterState& state) {
  for (const auto& [id, node] : empty_.nodes()) {
    const Node& real = *state.find(id);
    if (!real.takes_jobs()) {
      add({.kind = Obstacle::Kind::node,
           .node = id,
           .covers = Placement(1, {id, real.all_gpus()})});
    }
  }
  const std::set<JobId> interruptible = find_interruptible(state);
  for (JobId id : state.live()) {
    const Running& running = *index_.running.find(id);
    Placement covers;
    if (!interruptible.contains(id) && running.job->spec->group == demand_.group) {
      for (const Rank& rank : running.job->attempt->holding_ranks()) {
        covers.push_back(rank.place);
      }
    }
    add_unless_harmless({.job = id,
                         .crosses_zones = index_.running.crossing().contains(id),
                         .covers = std::move(covers),
                         .ask = host_ask(*running.job->spec)});
  }
  for (const Job* holder : reservations_) {
    const Reservation& reservation = *holder->reservation;
    const bool crosses =
        crosses_zones(state, reservation.placement.front().node, reservation.placement.back().node);
    crossing_ += crosses;
    // One of lower level is taken back.
    const bool stands = (reservation.priority >= requester_.level || !demand_.asks_gpus()) &&
                        holder->spec->group == demand_.group;
    add_unless_harmless({.kind = Obstacle::Kind::reservation,
                         .job = holder->id,
                         .crosses_zones = crosses,
                         .covers = stands ? reservation.placement : Placement(),
                         .ask = host_ask(*holder->spec)});
  }
}

void Hypothesis::add_unless_harmless(Obstacle obstacle) {
  // An older server let the restart of an agent move its node into another group under a job.
  std::erase_if(obstacle.covers,
                [&](const RankPlacement& place) { return empty_.find(place.node) == nullptr; });
  if (obstacle.covers.empty() && !(must_cross_ && obstacle.crosses_zones)) return;
  add(std::move(obstacle));
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

Hypothesis::Cover Hypothesis::cover_of(int index, GpuSet block) const {
  const NodeFacts& facts = capacity_.slots()[index].node->facts;
  Cover cover;
  HostParts over;
  bool is_held = false;
  for (const auto& [obstacle, gpus] : on_slot_[index]) {
    if (is_away_[obstacle]) continue;
    cover.all.push_back(obstacle);
    if (!(gpus & block).is_empty()) continue;
    cover.gpus = cover.gpus | gpus;
    HostParts excess = host_excess(facts, gpus.count(), obstacles_[obstacle].ask);
    // A closed node gives nothing.
    if (obstacles_[obstacle].kind == Obstacle::Kind::node) {
      excess = host_total(facts) + host_total(facts);
    }
    is_held = is_held || obstacles_[obstacle].kind == Obstacle::Kind::reservation;
    cover.excess += excess;
    over += positive(excess);
  }
  if (is_held) cover.excess = over;
  return cover;
}

void Hypothesis::refresh(int index) {
  const Cover cover = cover_of(index, {});
  capacity_.cover(index, cover.gpus, cover.excess);
}

int Hypothesis::crossing_too_many() const {
  return must_cross_ && demand_.asks_gpus()
             ? std::max(0, crossing_ - knobs_.max_cross_zone_jobs + 1)
             : 0;
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

std::vector<int> Hypothesis::in_the_way_of_host(int index, GpuSet gpus) const {
  const Slot& slot = capacity_.slots()[index];
  const NodeFacts& facts = slot.node->facts;
  if (slot.is_even && demand_.size().is_plain()) return {};
  Cover cover = cover_of(index, gpus);
  const HostParts whole = facts.gpus > 0
                              ? host_of_gpus(facts, without(slot.all, cover.gpus).count())
                              : host_total(facts);
  if (host_need(facts, demand_.size()).is_within(whole - cover.excess)) return {};
  return std::move(cover.all);
}

}  // namespace hai
