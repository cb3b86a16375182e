#include "server/plan/pass.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/check.h"
#include "server/model/lemon_score.h"
#include "server/plan/cost.h"
#include "server/plan/eligible.h"
#include "server/plan/explain.h"
#include "server/plan/order.h"
#include "server/plan/pass_state.h"

namespace hai {
namespace {

// So many searches for victims a pass makes; the next pass goes on. Of one user's so many may fail.
constexpr int kSearchesMax = 128;
constexpr int kFailuresOfPerson = kSearchesMax / 2;
// A checkpoint is waited for if so many times more work would be lost than time is waited.
constexpr int kWorthWaiting = 4;
// So many gangs are looked at for defragmentation.
constexpr size_t kScatteredMax = 4;
// A gang of so many nodes is worth more than the best fit of a small job.
constexpr int kLargeGang = 4;

class Pass {
 public:
  Pass(const ClusterState& state, const Knobs& knobs, UnixTime now, PlanIndex& index,
       VictimChoice victims, bool takes_turns, bool looks_at_all)
      : index_(index),
        looks_at_all_(looks_at_all),
        pass_{.state = state,
              .knobs = knobs,
              .now = now,
              .index = index,
              .victim_choice = victims,
              .takes_turns = takes_turns} {}

  Plan run(bool with_reasons) {
    pass_.is_settling = is_settling(pass_.state, pass_.knobs, pass_.now);
    pass_.crossing = static_cast<int>(index_.running.crossing().size());
    find_stuck(pass_);
    settle_reservations(pass_);
    for (JobId id : pass_.kept) {
      const Priority level = pass_.state.find(id)->reservation->priority;
      lowest_kept_ = lowest_kept_ ? std::min(*lowest_kept_, level) : level;
    }
    find_holders();
    find_doubtful_nodes();
    empty_draining_nodes();
    consider_waiting();
    defragment_for_gangs();
    consider_those_without_gpus();
    release_pointless_suspensions(pass_);
    if (with_reasons) {
      give_reasons();
    } else {
      // Whoever lost its nodes in this pass is in no bucket until that is stored.
      for (JobId id : pass_.refiled) pass_.plan.pending.try_emplace(id, reason_of(id));
    }
    put_back();
    return std::move(pass_.plan);
  }

 private:
  // The first job of a bucket that has not been considered yet.
  struct Cursor {
    Bucket* bucket = nullptr;
    std::set<std::pair<int64_t, JobId>>::const_iterator next;
    OrderKey key;
    bool operator<(const Cursor& other) const { return other.key < key; }  // best on the heap's top
  };
  // A search that found nobody; so will everybody else's of that person (or of anybody, −1) who
  // reaches no further and has waited no longer.
  struct Failure {
    int person = -1;
    int reach = 0;
    Duration waited{0};
  };
  // What was seen of one shape in this pass.
  struct ShapeMemo {
    int needed_reach = -2;  // −2: not looked at yet
    std::vector<Failure> failures;
  };

  // Those that nodes are held for and not free yet, in the order of all.
  void find_holders() {
    if (pass_.is_settling) return;
    const bool is_fifo = pass_.knobs.policy == Policy::fifo;
    for (JobId id : pass_.kept) {
      if (pass_.awaited[id].empty()) continue;
      const Job& job = *pass_.state.find(id);
      UnixTime unused{};
      holders_.push_back({-static_cast<int>(job.reservation->priority),
                          waiting_class(pass_.knobs, job, pass_.now, &unused),
                          is_fifo ? 0 : index_.ledger.usage(index_.ledger.find(job.user)),
                          job.custom_rank, id});
    }
    std::ranges::sort(holders_, std::greater());  // the best at the end
  }

  // While others leave nodes for them, other nodes may have become free: whoever is better than
  // `next` has the choice now.
  void serve_holders(const OrderKey* next) {
    for (; !holders_.empty() && (next == nullptr || holders_.back() < *next); holders_.pop_back()) {
      const Job& job = *pass_.state.find(holders_.back().job);
      if (!pass_.kept.contains(job.id)) continue;  // taken back meanwhile
      Demand demand = as_of_now(hai::demand_of(index_.capacity, job, pass_.knobs, pass_.now));
      if (pass_.crosses(job.reservation->placement))
        demand.may_cross_zones = true;  // it gives that up
      if (!start_elsewhere(pass_, job, demand)) continue;
      for (ShapeMemo& memo : memos_) memo = {};  // what was held for it may be of use to others
    }
  }

  void empty_draining_nodes() {
    std::set<JobId> told;
    for (NodeId id : index_.draining) {
      const Node& node = *pass_.state.find(id);
      for (const Occupant& occupant : node.occupants) {
        const Attempt& attempt = *pass_.state.find(occupant.job)->attempt;
        if (attempt.end || attempt.state == AttemptState::suspending) continue;
        if (!told.insert(occupant.job).second) continue;
        pass_.plan.suspends.push_back(
            {occupant.job, fmt::format("node {} is being drained", node.facts.name)});
      }
    }
  }

  OrderKey key_of(const Bucket& bucket, Priority level,
                  const std::pair<int64_t, JobId>& next) const {
    const bool is_fifo = pass_.knobs.policy == Policy::fifo;
    return {-static_cast<int>(level), bucket.feedback_class,
            is_fifo ? 0 : index_.ledger.usage(bucket.person), next.first, next.second};
  }

  Demand demand_of(const Bucket& bucket, const Job& job) const {
    return as_of_now(hai::demand_of(*bucket.shape, job));
  }

  Demand as_of_now(Demand demand) const {
    demand.may_cross_zones = may_cross_now(demand);
    if (demand.nodes >= kLargeGang) {
      demand.avoid.insert(demand.avoid.end(), doubtful_.begin(), doubtful_.end());
    }
    return demand;
  }

  // Jobs without GPUs neither are counted nor wait for each other.
  bool may_cross_now(const Demand& demand) const {
    return demand.may_cross_zones &&
           (!demand.asks_gpus() || pass_.crossing < pass_.knobs.max_cross_zone_jobs);
  }

  // Nodes with a bad record: a large gang takes them last, as each of its nodes can end it.
  void find_doubtful_nodes() {
    const int limit = pass_.knobs.lemon_score;
    if (limit == 0) return;
    for (NodeId id : index_.marked) {
      const Node& node = *pass_.state.find(id);
      if (!node.takes_jobs()) continue;
      const LemonScore lemon = lemon_score(node.health, pass_.now, lemon_person_max(limit));
      if (lemon.score >= lemon_person_max(limit)) doubtful_.push_back(id);
    }
  }

  void consider_waiting() {
    memos_.resize(index_.waiting.shapes());
    if (!looks_at_all_)
      index_.left_out = index_.waiting.left_out(pass_.now, pass_.knobs.plan_period);
    std::vector<Cursor> heap;
    for (const std::unique_ptr<Bucket>& bucket : index_.waiting.buckets()) {
      if (bucket->jobs.empty()) continue;
      if (bucket->shape->demand.asks_gpus()) {
        add_cursor(*bucket, heap);
      } else {
        without_gpus_.push_back(bucket.get());
      }
    }
    consider_all(std::move(heap));
    serve_holders(nullptr);
  }

  // After all others: they take what these have left, and jump nobody.
  void consider_those_without_gpus() {
    std::vector<Cursor> heap;
    for (Bucket* bucket : without_gpus_) add_cursor(*bucket, heap);
    consider_all(std::move(heap));
  }

  void add_cursor(Bucket& bucket, std::vector<Cursor>& heap) {
    const auto level = bucket.room->level_for(bucket.asked, bucket.shape->units);
    if (!level) return;
    Cursor cursor{&bucket, bucket.jobs.begin(), key_of(bucket, *level, *bucket.jobs.begin())};
    if (!index_.left_out.contains(&bucket) && may_find_room(bucket, *level)) {
      heap.push_back(cursor);
    } else {
      note_blocked(bucket, cursor.key);
    }
  }

  void consider_all(std::vector<Cursor> heap) {
    std::make_heap(heap.begin(), heap.end());
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end());
      Cursor& cursor = heap.back();
      serve_holders(&cursor.key);
      if (!advance(cursor)) {
        heap.pop_back();
      } else {
        std::push_heap(heap.begin(), heap.end());
      }
    }
  }

  // Considers the cursor's job if it is still the best; false if the bucket has no more to give.
  bool advance(Cursor& cursor) {
    const Bucket& bucket = *cursor.bucket;
    // Quota again, and what its user has had: jobs considered before may have changed both.
    const auto level = bucket.room->level_for(bucket.asked, bucket.shape->units);
    if (!level) return false;
    const OrderKey key = key_of(bucket, *level, *cursor.next);
    if (key != cursor.key) {
      cursor.key = key;
      return true;
    }
    if (!may_find_room(bucket, *level)) {
      note_blocked(bucket, key);
      return false;
    }
    const JobId id = cursor.next->second;
    if (!consider(bucket, *pass_.state.find(id), *level, key)) {
      note_blocked(bucket, key);
      return false;
    }
    if (++cursor.next == bucket.jobs.end()) return false;
    cursor.key = key_of(bucket, *level, *cursor.next);
    return true;
  }

  // Cheap and necessary.
  bool may_find_room(const Bucket& bucket, Priority level) {
    const Requester requester{
        .level = level, .feedback_class = bucket.feedback_class, .takes_turns = pass_.takes_turns};
    const int needed = needed_reach(*bucket.shape);
    if (needed < 0) return true;
    if (!bucket.shape->demand.asks_gpus()) return false;
    // Reservations of lower level may be taken back.
    if (lowest_kept_ && *lowest_kept_ < level) return true;
    return !pass_.is_settling && needed <= VictimIndex::reach(requester);
  }

  int needed_reach(const Shape& shape) {
    ShapeMemo& memo = memos_[shape.index];
    if (memo.needed_reach == -2) {
      Demand demand = shape.demand;
      demand.may_cross_zones = may_cross_now(demand);
      memo.needed_reach = index_.running.needed_reach(index_.capacity, demand);
    }
    return memo.needed_reach;
  }

  // Starts the job, or holds what victims leave for it. False if it has to wait on as it is.
  bool consider(const Bucket& bucket, const Job& job, Priority level, const OrderKey& key) {
    const Demand demand = demand_of(bucket, job);
    if (auto placement = place(index_.capacity, demand)) {
      start(bucket, job, level, key, *placement);
      return true;
    }
    // Capacity only shrinks in a pass: the next bucket of this shape need not try.
    memos_[bucket.shape->index].needed_reach = -2;
    if (!demand.asks_gpus()) return false;
    if (!may_find_room(bucket, level)) return false;
    Requester requester =
        requester_of(index_, pass_.now, job, level, bucket.feedback_class, bucket.person);
    requester.takes_turns = pass_.takes_turns;
    if (has_failed(bucket, requester)) return false;
    if (make_room(bucket, job, demand, requester, /*may_wait=*/true)) return true;
    if (std::exchange(is_waiting_for_save_, false)) return false;
    if (take_back_lower_reservations(pass_, demand, requester)) {
      // What failed for want of these nodes may succeed now.
      for (ShapeMemo& memo : memos_) memo = {};
      if (auto placement = place(index_.capacity, demand)) {
        start(bucket, job, level, key, *placement);
      } else {
        CHECK(make_room(bucket, job, demand, requester, /*may_wait=*/false));
      }
      return true;
    }
    return false;
  }

  bool has_failed(const Bucket& bucket, const Requester& requester) const {
    const int reach = VictimIndex::reach(requester);
    return std::ranges::any_of(memos_[bucket.shape->index].failures, [&](const Failure& failure) {
      return (failure.person < 0 || failure.person == bucket.person) && reach <= failure.reach &&
             requester.waited <= failure.waited;
    });
  }

  bool make_room(const Bucket& bucket, const Job& job, const Demand& demand,
                 const Requester& requester, bool may_wait) {
    if (pass_.is_settling) return false;
    int& failed = failed_of_[bucket.person];
    if (may_wait && failed >= kFailuresOfPerson) return false;
    if (may_wait && searches_ >= kSearchesMax) {
      pass_.plan.is_partial = true;
      return false;
    }
    if (index_.running.needed_reach(index_.capacity, demand) > VictimIndex::reach(requester)) {
      return false;
    }
    ++searches_;
    bool fails_for_all = false;
    auto room = preempt(pass_.preempt_context(), demand, requester, &fails_for_all);
    if (!room) {
      ++failed;
      memos_[bucket.shape->index].failures.push_back(
          {fails_for_all ? -1 : bucket.person, VictimIndex::reach(requester), requester.waited});
      return false;
    }
    if (auto until = worth_waiting_for(requester, *room); until && may_wait) {
      pass_.plan.pending[job.id] = checkpoint_reason(room->victims.size(), *until);
      is_waiting_for_save_ = true;
      return false;
    }
    reserve(bucket, job, requester.level, *room);
    return true;
  }

  // When the victims of lower level that hold most of the cost will have saved by themselves, if
  // that is within checkpoint_patience. Not for ever: others may be due again by then. Turns of one
  // level wait long enough as it is.
  std::optional<UnixTime> worth_waiting_for(const Requester& requester,
                                            const Preemption& room) const {
    if (requester.waited > pass_.knobs.reserve_after) return std::nullopt;
    Duration cost{0};
    Duration saved{0};
    UnixTime until = pass_.now;
    for (JobId id : room.victims) {
      const Running& victim = *index_.running.find(id);
      const Job& job = *victim.job;
      const Duration per_gpu = suspend_cost_per_gpu(job, pass_.knobs, pass_.now);
      cost += victim.gpus * per_gpu;
      const bool is_lower = victim.level < requester.level && !victim.is_leaving;
      if (!is_lower || !job.checkpoint || job.checkpoint_gap == Duration{0}) continue;
      const UnixTime due = job.checkpoint->at + job.checkpoint_gap;
      if (due <= pass_.now || due > pass_.now + pass_.knobs.checkpoint_patience) continue;
      // What it would lose if asked now: without saving and restarting, which come later too.
      const Duration age = per_gpu - switch_time(job);
      if (age < kWorthWaiting * (due - pass_.now)) continue;
      saved += victim.gpus * age;
      until = std::max(until, due);
    }
    return saved * 2 > cost ? std::optional(until) : std::nullopt;
  }

  void start(const Bucket& bucket, const Job& job, Priority level, const OrderKey& key,
             const Placement& placement) {
    index_.capacity.take(placement, bucket.shape->demand.ask);
    use(bucket, level, placement);
    auto blocked = blocked_.find(job.spec->group);
    const bool is_jumper =
        job.spec->asks_gpus() && blocked != blocked_.end() && blocked->second < key;
    pass_.plan.starts.push_back({job.id, placement, level, is_jumper});
  }

  void reserve(const Bucket& bucket, const Job& job, Priority level, const Preemption& room,
               bool is_move = false) {
    index_.capacity.hold(room.placement, bucket.shape->demand.ask);
    use(bucket, level, room.placement);
    for (JobId victim : room.victims) {
      if (pass_.asked.insert(victim).second) index_.running.set_asked(victim, true);
    }
    pass_.plan.reserves.push_back({job.id, room.placement, level, room.victims, is_move});
    pass_.plan.pending[job.id] = preempting_reason(room.placement.size(), room.victims.size());
  }

  void use(const Bucket& bucket, Priority level, const Placement& placement) {
    pass_.refresh(placement);
    index_.ledger.use(*bucket.room, level, bucket.shape->units);
    int gpus = 0;
    for (const RankPlacement& place : placement) gpus += place.gpus.count();
    const auto quantum = std::chrono::duration_cast<std::chrono::seconds>(pass_.knobs.min_quantum);
    index_.ledger.charge(bucket.person, gpus * quantum.count());
    if (bucket.shape->demand.asks_gpus()) pass_.crossing += pass_.crosses(placement);
  }

  // The best key that waits for room, per node group: whoever starts behind it has jumped.
  void note_blocked(const Bucket& bucket, const OrderKey& key) {
    if (!bucket.shape->demand.asks_gpus()) return;  // Nobody jumps those without GPUs.
    // Only passes that take turns defragment, so only they look the job up, which costs time.
    if (pass_.takes_turns && bucket.shape->demand.gpus == 0) {
      const Job& job = *pass_.state.find(key.job);
      if (pass_.now - waiting_since(job) >= pass_.knobs.tight_wait) {
        scattered_.push_back({key, {&bucket, &job, static_cast<Priority>(-key.level)}});
      }
    }
    auto [it, is_first] = blocked_.emplace(bucket.shape->demand.group, key);
    if (!is_first) it->second = std::min(it->second, key);
  }

  // The first of those that lack only whole nodes. Later ones wait for the next turns.
  void defragment_for_gangs() {
    if (!pass_.takes_turns || pass_.is_settling || pass_.knobs.defrag_moves_per_hour == 0) return;
    std::ranges::sort(scattered_, {}, &std::pair<OrderKey, Scattered>::first);
    if (scattered_.size() > kScatteredMax) scattered_.resize(kScatteredMax);
    for (const auto& [key, gang] : scattered_) {
      auto item = defragment(pass_, gang);
      if (!item) continue;
      reserve(*gang.bucket, *gang.job, gang.level, {item->placement, item->victims}, true);
      return;
    }
  }

  void give_reasons() {
    std::set<JobId> started;
    for (const StartItem& item : pass_.plan.starts) started.insert(item.job);
    for (const auto& [order, id] : pass_.state.waiting()) {
      if (started.contains(id) || pass_.plan.pending.contains(id)) continue;
      pass_.plan.pending[id] = reason_of(id);
    }
  }

  PendingReason reason_of(JobId id) const {
    return reason_now(pass_.state, index_, pass_.knobs, pass_.now, *pass_.state.find(id));
  }

  void put_back() {
    std::vector<int> touched;
    index_.capacity.undo_to(0, &touched);
    std::ranges::sort(touched);
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (JobId id : pass_.asked) index_.running.set_asked(id, false);
    for (JobId id : pass_.stuck) index_.running.set_stuck(index_.capacity, id, false);
    for (JobId id : pass_.refiled) index_.waiting.remove(id);
    for (int slot : touched) index_.running.refresh_slot(index_.capacity, slot);
    index_.ledger.end_pass();
  }

  PlanIndex& index_;
  const bool looks_at_all_;
  PassState pass_;
  std::vector<ShapeMemo> memos_;
  std::vector<NodeId> doubtful_;
  std::vector<OrderKey> holders_;  // not looked at yet; the best at the end
  std::map<std::string, OrderKey> blocked_;
  std::vector<std::pair<OrderKey, Scattered>> scattered_;
  std::vector<Bucket*> without_gpus_;
  std::optional<Priority> lowest_kept_;  // of the reservations that stand
  int searches_ = 0;
  std::map<int, int> failed_of_;  // persons
  bool is_waiting_for_save_ = false;
};

}  // namespace

Requester requester_of(const PlanIndex& index, UnixTime now, const Job& job, Priority level,
                       int feedback_class, int person) {
  return {&job, level, feedback_class, index.ledger.usage(person),
          std::max(Duration{0}, Duration(now - waiting_since(job)))};
}

Plan run_pass(const ClusterState& state, const Knobs& knobs, UnixTime now, PlanIndex& index,
              VictimChoice victims, bool takes_turns, bool looks_at_all, bool with_reasons) {
  return Pass(state, knobs, now, index, victims, takes_turns, looks_at_all).run(with_reasons);
}

PendingReason reason_now(const ClusterState& state, const PlanIndex& index, const Knobs& knobs,
                         UnixTime now, const Job& job) {
  if (auto reason = not_eligible(state, job, now)) return *reason;
  const Bucket* bucket = index.waiting.find(job.id);
  if (bucket == nullptr)
    return {PendingCode::not_considered, "the next planning pass will look at it"};
  if (!bucket->room->level_for(bucket->asked, bucket->shape->units)) {
    return bucket->room->reason(bucket->asked, bucket->shape->units);
  }
  Demand demand = demand_of(*bucket->shape, job);
  if (index.left_out.contains(bucket) && has_enough_nodes(index.capacity, demand)) {
    return {PendingCode::not_considered,
            "jobs that wait ask for very many amounts of CPUs or memory, or lists of nodes: they "
            "are looked at in turns, one turn each plan_period"};
  }
  const bool is_crossing_taken =
      demand.may_cross_zones && demand.asks_gpus() &&
      static_cast<int>(index.running.crossing().size()) >= knobs.max_cross_zone_jobs;
  PendingReason reason = resources_reason(index.capacity, demand);
  if (is_crossing_taken) {
    reason.text += fmt::format(
        "; no zone is that large, and only {} job{} at a time may run "
        "across zones",
        knobs.max_cross_zone_jobs == 1 ? "one" : std::to_string(knobs.max_cross_zone_jobs),
        knobs.max_cross_zone_jobs == 1 ? "" : "s");
  }
  return reason;
}

}  // namespace hai
