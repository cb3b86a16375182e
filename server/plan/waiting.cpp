#include "server/plan/waiting.h"

#include <algorithm>

#include "server/plan/eligible.h"
#include "server/plan/order.h"

namespace hai {

int waiting_class(const Knobs& knobs, const Job& job, UnixTime now, UnixTime* next_change) {
  const int by_usage = feedback_class(knobs, job.gpu_seconds);
  if (knobs.policy == Policy::fifo) return by_usage;
  constexpr int64_t kSpread = 64;
  const Duration late = knobs.promote_after / 2 * (job.id.value % kSpread) / kSpread;
  const UnixTime first = waiting_since(job) + knobs.promote_after + late;
  int64_t lifts = 0;
  if (now >= first) lifts = 1 + Duration(now - first) / knobs.promote_after;
  if (by_usage - lifts > kClassMin) *next_change = first + lifts * knobs.promote_after;
  return static_cast<int>(std::max<int64_t>(kClassMin, by_usage - lifts));
}

Demand demand_of(const Shape& shape, const Job& job) {
  Demand demand = shape.demand;
  demand.avoid = job.avoid;
  return demand;
}

void WaitingIndex::rebuild() { *this = WaitingIndex(); }

Demand demand_of(const Capacity& capacity, const Job& job, const Knobs& knobs, UnixTime now) {
  const JobSpec& spec = *job.spec;
  Demand demand{.group = spec.group,
                .zone = spec.zone,
                .nodes = spec.node_count,
                .gpus = spec.gpus_per_node,
                .avoid = job.avoid,
                .ask = host_ask(spec)};
  // Part of the spec, which it keeps.
  if (!spec.node_filter.is_empty()) demand.filter = {job.spec, &spec.node_filter};
  if (now - waiting_since(job) < knobs.tight_wait) demand.max_leaves = spec.max_leaves;
  // A gang that a zone could hold waits for it.
  const NodeGroup* group = capacity.group(spec.group);
  demand.may_cross_zones =
      spec.cross_zone == CrossZone::allow && spec.zone.empty() && group != nullptr &&
      capacity.hardware_in_largest_zone(*group, demand.size(), demand.zone) < demand.nodes;
  return demand;
}

const Shape& WaitingIndex::shape_of(const ClusterState& state, Demand demand, const JobSpec& spec) {
  demand.avoid.clear();
  std::unique_ptr<Shape>& shape = shapes_[{demand.group, demand.zone, demand.nodes, demand.size(),
                                           demand.may_cross_zones, demand.max_leaves}];
  if (!shape) {
    const int index = static_cast<int>(shapes_.size()) - 1;
    int size = 0;
    if (!demand.size().is_common()) {
      const auto [known, is_new] = sizes_.try_emplace(demand.size(), last_size_ + 1);
      last_size_ += is_new;
      size = known->second;
    }
    shape =
        std::make_unique<Shape>(Shape{index, size, std::move(demand), quota_units(state, spec)});
  }
  return *shape;
}

void WaitingIndex::update(const ClusterState& state, const Capacity& capacity, Ledger& ledger,
                          const Knobs& knobs, UnixTime now, JobId id) {
  remove(id);
  const Job* job = state.find(id);
  if (job != nullptr && job->is_waiting() && !job->reservation) {
    add(state, capacity, ledger, knobs, now, *job);
  }
}

void WaitingIndex::add(const ClusterState& state, const Capacity& capacity, Ledger& ledger,
                       const Knobs& knobs, UnixTime now, const Job& job) {
  Entry entry{.custom_rank = job.custom_rank, .next_change = UnixTime::max()};
  auto change_at = [&](UnixTime time) {
    if (time > now) entry.next_change = std::min(entry.next_change, time);
  };
  if (job.spec->begin_at) change_at(*job.spec->begin_at);
  if (const auto restart = job.restarts_at()) change_at(*restart);
  const int person = ledger.find(job.user);
  if (person >= 0 && !not_eligible(state, job, now)) {
    if (job.spec->max_leaves > 0) change_at(waiting_since(job) + knobs.tight_wait);
    UnixTime lift = UnixTime::max();
    const int feedback_class = waiting_class(knobs, job, now, &lift);
    change_at(lift);
    const Shape& shape = shape_of(state, demand_of(capacity, job, knobs, now), *job.spec);
    const Priority asked = order_level(knobs, job, job.priority, now);
    Bucket*& bucket = index_[{static_cast<int>(asked), feedback_class, person, shape.index}];
    if (bucket == nullptr) {
      buckets_.push_back(
          std::make_unique<Bucket>(Bucket{&shape,
                                          &ledger.room(state, person, job.spec->group),
                                          person,
                                          asked,
                                          feedback_class,
                                          {}}));
      bucket = buckets_.back().get();
    }
    bucket->jobs.insert({job.custom_rank, job.id});
    entry.bucket = bucket;
  }
  if (entry.next_change != UnixTime::max()) changes_.insert({entry.next_change, job.id});
  entries_.emplace(job.id, entry);
}

void WaitingIndex::remove(JobId job) {
  auto it = entries_.find(job);
  if (it == entries_.end()) return;
  const Entry& entry = it->second;
  if (entry.bucket != nullptr) entry.bucket->jobs.erase({entry.custom_rank, job});
  changes_.erase({entry.next_change, job});
  entries_.erase(it);
}

void WaitingIndex::forget_empty() {
  constexpr size_t kFewBuckets = 1'000;
  if (buckets_.size() < 2 * std::max(forgotten_at_, kFewBuckets)) return;
  std::erase_if(buckets_, [](const auto& bucket) { return bucket->jobs.empty(); });
  forget_unused_shapes();
  index_.clear();
  for (const std::unique_ptr<Bucket>& each : buckets_) {
    index_[{static_cast<int>(each->asked), each->feedback_class, each->person,
            each->shape->index}] = each.get();
  }
  forgotten_at_ = buckets_.size();
}

void WaitingIndex::forget_unused_shapes() {
  std::set<const Shape*> used;
  std::set<int> used_sizes;
  for (const std::unique_ptr<Bucket>& bucket : buckets_) {
    used.insert(bucket->shape);
    used_sizes.insert(bucket->shape->size);
  }
  std::erase_if(shapes_, [&](const auto& item) { return !used.contains(item.second.get()); });
  std::erase_if(sizes_, [&](const auto& item) { return !used_sizes.contains(item.second); });
  int index = 0;
  for (auto& [key, shape] : shapes_) shape->index = index++;
}

std::set<const Bucket*> WaitingIndex::left_out(UnixTime now, Duration period) const {
  using Buckets = std::vector<const Bucket*>;
  std::map<int, std::map<int, Buckets>> sizes_of;  // person → size
  std::set<int> sizes;
  for (const std::unique_ptr<Bucket>& bucket : buckets_) {
    if (bucket->jobs.empty() || bucket->shape->size == 0) continue;
    sizes_of[bucket->person][bucket->shape->size].push_back(bucket.get());
    sizes.insert(bucket->shape->size);
  }
  std::set<const Bucket*> left;
  if (sizes.size() <= kSizesOfPass) return left;
  const size_t share = std::max<size_t>(1, kSizesOfPass / sizes_of.size());
  const auto turn = static_cast<size_t>(now.time_since_epoch() / period);
  for (const auto& [person, own] : sizes_of) {
    // By what waits first of each: the same for a planner that has just been given the state.
    std::map<std::pair<int64_t, JobId>, const Buckets*> ordered;
    for (const auto& [size, buckets] : own) {
      const auto first = std::ranges::min_element(
          buckets, {}, [](const Bucket* bucket) { return *bucket->jobs.begin(); });
      ordered.emplace(*(*first)->jobs.begin(), &buckets);
    }
    size_t place = ordered.size() - turn * share % ordered.size();
    for (const auto& [first, buckets] : ordered) {
      if (place++ % ordered.size() >= share) left.insert(buckets->begin(), buckets->end());
    }
  }
  return left;
}

void WaitingIndex::advance(const ClusterState& state, const Capacity& capacity, Ledger& ledger,
                           const Knobs& knobs, UnixTime now) {
  while (!changes_.empty() && changes_.begin()->first <= now) {
    update(state, capacity, ledger, knobs, now, changes_.begin()->second);
  }
  forget_empty();
}

const Bucket* WaitingIndex::find(JobId job) const {
  auto it = entries_.find(job);
  return it == entries_.end() ? nullptr : it->second.bucket;
}

}  // namespace hai
