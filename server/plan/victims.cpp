#include "server/plan/victims.h"

#include <algorithm>

#include "common/check.h"
#include "server/plan/cost.h"
#include "server/plan/order.h"

namespace hai {
namespace {

constexpr int kLevelStep = 128;
constexpr int kOwnLevelMayNot = 127;
constexpr int kNever = 2000;  // above every level: held, or the node takes no jobs
constexpr int kFree = -1;
constexpr UnixTime kFarAway = UnixTime::max();

int base_of(Priority level) {
  const auto found = std::ranges::find(kPriorities, level);
  return static_cast<int>(std::end(kPriorities) - found - 1) * kLevelStep;
}

int strength_of(int feedback_class) { return kClassMax - feedback_class; }
static_assert(kClassMax - kClassMin < kOwnLevelMayNot);

// May its own level take its place, if the order says so?
bool is_open_to_own_level(const Knobs& knobs, const Running& running) {
  return running.job->attempt->jumper ||
         (knobs.policy == Policy::feedback && running.is_past_quantum);
}

bool leaves_anyway(const Job& job) {
  const Attempt& attempt = *job.attempt;
  return attempt.end ||
         (attempt.state == AttemptState::suspending && (!attempt.suspended_for || job.held));
}

}  // namespace

const Running* VictimIndex::find(JobId job) const {
  auto it = running_.find(job);
  return it == running_.end() ? nullptr : &it->second;
}

void VictimIndex::drop(Ledger& ledger, JobId job) {
  auto it = running_.find(job);
  if (it == running_.end()) return;
  const Running& old = it->second;
  changes_.erase({old.next_change, job});
  suspending_.erase(job);
  crossing_.erase(job);
  file(old, false);
  if (old.person >= 0) {
    if (old.is_flat) {
      ledger.add_flat(old.person, -old.flat_gpu_seconds);
    } else {
      ledger.remove_running(old.person, old.gpus, old.charged_since);
    }
  }
  running_.erase(it);
}

void VictimIndex::update(const ClusterState& state, const Capacity& capacity, Ledger& ledger,
                         const Knobs& knobs, UnixTime now, JobId id) {
  drop(ledger, id);
  const Job* job = state.find(id);
  if (job == nullptr || !job->has_live_attempt()) return;
  const Attempt& attempt = *job->attempt;
  Running running{.id = id, .job = job, .person = ledger.find(job->user), .gpus = gpus_of(attempt)};
  const UnixTime since = attempt.running_at.value_or(now);
  const UnixTime quantum_end = since + quantum_of(knobs, *job);
  running.is_past_quantum = attempt.running_at && now >= quantum_end;
  running.level = order_level(knobs, *job, attempt.priority, now);
  running.is_leaving = leaves_anyway(*job);
  running.is_kept = job->spec->is_interactive && running.gpus > 0 && !running.is_leaving;
  if (running.is_kept) running.level = kPriorities[0];  // which no level is above
  const int64_t had = gpu_seconds_had(*job, now);
  running.feedback_class = feedback_class(knobs, had);

  running.next_change = kFarAway;
  auto change_at = [&](UnixTime time) {
    if (time > now) running.next_change = std::min(running.next_change, time);
  };
  if (attempt.running_at) {
    change_at(quantum_end);
    if (attempt.priority == Priority::above_normal) change_at(above_normal_until(knobs, *job));
    if (is_open_to_own_level(knobs, running) && running.feedback_class < kClassMax &&
        running.gpus > 0) {
      const int64_t left = class_end(knobs, running.feedback_class) - job->gpu_seconds;
      change_at(since + std::chrono::seconds((left + running.gpus - 1) / running.gpus));
    }
  }
  if (running.next_change != kFarAway) changes_.insert({running.next_change, id});

  running.is_open = !running.is_leaving && !running.is_kept && running.gpus > 0 &&
                    attempt.state != AttemptState::suspending &&
                    is_open_to_own_level(knobs, running);
  if (running.gpus == 0) {
    running.protection = kFree;
  } else if (running.is_leaving) {
    running.protection = 0;
  } else if (running.is_open) {
    running.protection = base_of(running.level) + strength_of(running.feedback_class);
  } else {
    running.protection = base_of(running.level) + kOwnLevelMayNot;
  }
  running.protection_other = kNever;
  if (attempt.state == AttemptState::suspending && !attempt.end) suspending_.insert(id);
  auto holding = attempt.holding_ranks();
  if (running.gpus > 0 &&
      crosses_zones(state, holding.front().place.node, holding.back().place.node)) {
    crossing_.insert(id);
  }

  running.is_flat = !running.is_past_quantum;
  running.charged_since = since;
  running.flat_gpu_seconds =
      running.gpus * std::chrono::duration_cast<std::chrono::seconds>(quantum_end - since).count();
  if (running.person >= 0) {
    if (running.is_flat) {
      ledger.add_flat(running.person, running.flat_gpu_seconds);
    } else {
      ledger.add_running(running.person, running.gpus, since);
    }
  }
  running.group = capacity.slots()[capacity.index_of(attempt.ranks.front().place.node)].group;
  running.is_silent = !job->checkpoint.has_value();
  running.loses_since = loses_since(*job);
  file(running_.emplace(id, running).first->second, true);
  refresh_slots_of(capacity, attempt);
}

void VictimIndex::set_stuck(const Capacity& capacity, JobId job, bool stuck) {
  Running& running = running_.at(job);
  if (running.gpus == 0) return;
  file(running, !stuck);
  std::swap(running.protection, running.protection_other);
  refresh_slots_of(capacity, *running.job->attempt);
}

std::vector<OpenVictim> VictimIndex::open_of(Priority level, const Knobs& knobs,
                                             UnixTime now) const {
  std::vector<OpenVictim> found;
  auto own = open_.find(level);
  if (own == open_.end()) return found;
  auto add = [&](const Running& running) {
    const Duration per_gpu = suspend_cost_per_gpu(*running.job, knobs, now);
    const Duration price = running.is_silent ? std::min(per_gpu, kAssumedRestart) : per_gpu;
    found.push_back({&running, price.count(), running.gpus * per_gpu.count()});
  };
  found.reserve(own->second.reporting.size() + own->second.silent.size());
  for (const auto& [key, running] : own->second.reporting) add(*running);
  for (const auto& [key, running] : own->second.silent) add(*running);
  std::ranges::sort(found, {}, [](const OpenVictim& victim) {
    return std::pair(victim.price_per_gpu, victim.running->id);
  });
  return found;
}

UnixTime VictimIndex::loses_since(const Job& job) {
  const UnixTime began = job.attempt->running_at.value_or(UnixTime::max());
  return job.checkpoint ? std::max(began, job.checkpoint->at) : began;
}

void VictimIndex::file(const Running& running, bool add) {
  auto put = [&](auto& map, const auto& key) {
    if (add) {
      map.emplace(key, &running);
    } else {
      map.erase(key);
    }
  };
  const JobId id = running.id;
  if (running.is_leaving) return put(leaving_, id);
  if (running.gpus == 0) return put(without_gpus_, id);
  put(by_level_[running.level], id);
  if (!running.is_open) return;
  OpenOfLevel& open = open_[running.level];
  put(running.is_silent ? open.silent : open.reporting, std::pair(running.loses_since, id));
}

void VictimIndex::advance(const ClusterState& state, const Capacity& capacity, Ledger& ledger,
                          const Knobs& knobs, UnixTime now) {
  while (!changes_.empty() && changes_.begin()->first <= now) {
    update(state, capacity, ledger, knobs, now, changes_.begin()->second);
  }
}

void VictimIndex::refresh_slots_of(const Capacity& capacity, const Attempt& attempt) {
  for (const Rank& rank : attempt.holding_ranks()) {
    refresh_slot(capacity, capacity.index_of(rank.place.node));
  }
}

// The least protection to overcome for one aligned block of the node. A rank without GPUs
// interrupts nobody.
int VictimIndex::need(const Capacity& capacity, int index, const RankSize& rank) const {
  const Slot& slot = capacity.slots()[index];
  if (!slot.usable || !rank.takes(slot.node->facts)) return kNever;
  if (rank.gpus == kNoGpus) return best_fit(slot, rank).fits ? kFree : kNever;
  const int count = slot.node->facts.gpus;
  if (rank.gpus > count || count == 0) return kNever;
  int of_gpu[GpuSet::kMax];
  for (int gpu = 0; gpu < count; ++gpu) of_gpu[gpu] = slot.free.contains(gpu) ? kFree : kNever;
  for (const Occupant& occupant : slot.node->occupants) {
    const Running* running = find(occupant.job);
    if (running == nullptr) continue;
    const GpuSet taken = without(without(occupant.gpus, slot.held), slot.free);
    for (uint64_t bits = taken.bits; bits != 0; bits &= bits - 1) {
      of_gpu[std::countr_zero(bits)] = running->protection;
    }
  }
  const int size = rank.gpus == 0 ? count : rank.gpus;
  int least = kNever;
  for (int start = 0; start + size <= count; start += size) {
    int most = kFree;
    for (int gpu = start; gpu < start + size; ++gpu) most = std::max(most, of_gpu[gpu]);
    least = std::min(least, most);
  }
  if (least == kNever || (slot.is_even && rank.is_plain())) return least;
  return std::max(least, need_of_host(slot, rank));
}

// … for its CPUs and memory.
int VictimIndex::need_of_host(const Slot& slot, const RankSize& rank) const {
  const NodeFacts& facts = slot.node->facts;
  if (!has_host(facts, rank.gpus, rank.ask)) return kNever;
  const HostParts needed = host_need(facts, rank);
  HostParts left = host_left(slot);
  std::vector<std::pair<int, HostParts>> gains;
  for (const Occupant& occupant : slot.node->occupants) {
    const Running* running = find(occupant.job);
    if (running != nullptr) gains.emplace_back(running->protection, host_gain(slot, occupant));
  }
  std::ranges::sort(gains, {}, &std::pair<int, HostParts>::first);
  int reached = kFree;
  for (const auto& [protection, gain] : gains) {
    if (needed.is_within(left)) return reached;
    left += gain;
    reached = protection;
  }
  return needed.is_within(left) ? reached : kNever;
}

VictimIndex::Size& VictimIndex::size(const Capacity& capacity, const RankSize& rank) const {
  for (Size& known : sizes_) {
    if (known.rank == rank) return known;
  }
  if (sizes_.size() == kSizesMax) sizes_.clear();
  Size& fresh = sizes_.emplace_back(Size{.rank = rank});
  fresh.histogram.resize(capacity.domains().size());
  for (int slot = 0; slot < static_cast<int>(capacity.slots().size()); ++slot) {
    fresh.need.push_back(static_cast<int16_t>(need(capacity, slot, rank)));
    ++fresh.histogram[capacity.slots()[slot].zone][fresh.need[slot]];
  }
  return fresh;
}

void VictimIndex::refresh_slot(const Capacity& capacity, int slot) {
  for (Size& known : sizes_) {
    const int fresh = need(capacity, slot, known.rank);
    int16_t& old = known.need[slot];
    if (fresh == old) continue;
    std::map<int, int>& zone = known.histogram[capacity.slots()[slot].zone];
    if (auto it = zone.find(old); --it->second == 0) zone.erase(it);
    ++zone[fresh];
    old = static_cast<int16_t>(fresh);
  }
}

int VictimIndex::reach(const Requester& requester) {
  const int base = base_of(requester.level);
  return requester.takes_turns ? base + strength_of(requester.feedback_class) : base - 1;
}

bool VictimIndex::is_reachable(const Capacity& capacity, int slot, const RankSize& rank,
                               int reach) const {
  return size(capacity, rank).need[slot] <= reach;
}

void VictimIndex::add_free_slots(const Capacity& capacity, int zone, const RankSize& rank,
                                 std::vector<int>& slots) const {
  const Size& known = size(capacity, rank);
  if (!known.histogram[zone].contains(kFree)) return;
  const Domain& part = capacity.domains()[zone];
  for (int slot = part.first_slot; slot < part.end_slot; ++slot) {
    if (known.need[slot] == kFree) slots.push_back(slot);
  }
}

// Walks the zones' histograms side by side, from free nodes to the best protected ones.
int VictimIndex::needed_reach(const Capacity& capacity, const Demand& demand) const {
  struct Cursor {
    std::map<int, int>::const_iterator next;
    std::map<int, int>::const_iterator end;
    int count = 0;
  };
  const Size& known = size(capacity, demand.size());
  std::vector<Cursor> zones;
  for (int zone : zones_of(capacity, demand)) {
    zones.push_back({known.histogram[zone].begin(), known.histogram[zone].end()});
  }
  while (true) {
    Cursor* least = nullptr;
    for (Cursor& zone : zones) {
      if (zone.next == zone.end) continue;
      if (least == nullptr || zone.next->first < least->next->first) least = &zone;
    }
    if (least == nullptr || least->next->first >= kNever) return kUnreachable;
    const int reach = least->next->first;
    least->count += least->next->second;
    ++least->next;
    int others = 0;
    for (const Cursor& zone : zones) {
      if (&zone != least) others = std::max(others, zone.count);
    }
    if (least->count >= demand.nodes) return reach;
    if (demand.may_cross_zones && least->count + others >= demand.nodes) return reach;
  }
}

// Of lower level, without GPUs, or leaving in any case; never one that is kept. One that leaves for
// another job of its own level or above is none: it goes on if that job needs it no more. Of its
// own level, if its key is worse: jumpers, and other users' jobs whose quantum is over. Users count
// as different only if one had twice as much: else two of them would swap places for ever.
bool VictimIndex::may_interrupt(const Knobs& knobs, const Requester& requester,
                                const Ledger& ledger, const Running& victim) const {
  if (victim.is_leaving || victim.gpus == 0 || victim.level < requester.level) return true;
  if (victim.is_kept || victim.level > requester.level || !requester.takes_turns) return false;
  const Job& job = *victim.job;
  const Attempt& attempt = *job.attempt;
  if (attempt.state == AttemptState::suspending) return false;
  const bool is_own = job.user == requester.job->user;
  const UnixTime since = waiting_since(*requester.job);
  const bool is_worse_class = victim.feedback_class > requester.feedback_class;
  const bool is_same_class = victim.feedback_class == requester.feedback_class;
  if (attempt.jumper && attempt.placed_at > since) {
    if (is_own && requester.waited < knobs.reserve_after) return false;
    if (is_worse_class) return true;
    return is_same_class && std::pair(job.custom_rank, job.id) >
                                std::pair(requester.job->custom_rank, requester.job->id);
  }
  if (is_own || knobs.policy == Policy::fifo || !victim.is_past_quantum) return false;
  if (is_worse_class) return true;
  return is_same_class && victim.person >= 0 && ledger.usage(victim.person) / 2 > requester.usage;
}

}  // namespace hai
