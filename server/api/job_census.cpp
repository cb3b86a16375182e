#include "server/api/job_census.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hai {

namespace {

constexpr int kSliceJobs = 500;  // with their reasons about a millisecond
constexpr Duration kFreshMin = 1s;
constexpr int64_t kPauseFactor = 20;  // of the time it takes: never more than 5 % of the loop

void add(SumsByWord& sums, const std::string& word, const JobSums& more) {
  JobSums& sum = sums[word];
  sum.jobs += more.jobs;
  sum.nodes += more.nodes;
  sum.gpus += more.gpus;
}

}  // namespace

int64_t tasks_to_come(const Job& array, const ArrayRange& range) {
  return range.count() - array.array.made;
}

void JobCensus::ask(std::function<void(const CensusView&)> done) {
  if (is_known_ && loop_.now() < fresh_until_) return done(view_);
  if (is_known_ && is_counting_) return done(view_);  // old, and the next one is on its way
  waiting_.push_back(std::move(done));
  begin();
}

const CensusView& JobCensus::last() {
  if (!is_known_ || loop_.now() >= fresh_until_) begin();
  return view_;
}

void JobCensus::forget() {
  is_known_ = false;
  view_ = {};
}

void JobCensus::begin() {
  if (std::exchange(is_counting_, true)) return;
  counting_ = {.at = loop_.wall_now()};
  began_ = loop_.now();
  running_after_ = {};
  waiting_after_ = {std::numeric_limits<int>::min(), JobId{}};
  is_running_done_ = false;
  gpus_of_group_.clear();
  slice();
}

void JobCensus::slice() {
  int budget = kSliceJobs;
  const bool is_done = count_running(budget) && count_waiting(budget);
  if (is_done) return finish();
  loop_.post(scope_.bind([this] { slice(); }));
}

bool JobCensus::count_running(int& budget) {
  if (is_running_done_) return true;
  const ClusterState& state = controller_.state();
  auto it = state.live().upper_bound(running_after_);
  for (; it != state.live().end() && budget > 0; ++it, --budget) {
    running_after_ = *it;
    const Job& job = *state.find(*it);
    JobSums sums{.jobs = 1};
    for (const Rank& rank : job.attempt->holding_ranks()) {
      sums.gpus += rank.place.gpus.count();
      ++sums.nodes;
    }
    add(counting_.running_by_user, job.user, sums);
    add(counting_.running_by_group, job.spec->group, sums);
    add(counting_.running_by_priority, std::string(to_string(job.priority)), sums);
  }
  is_running_done_ = it == state.live().end();
  return is_running_done_;
}

bool JobCensus::count_waiting(int& budget) {
  const ClusterState& state = controller_.state();
  auto it = state.waiting().upper_bound(waiting_after_);
  for (; it != state.waiting().end() && budget > 0; ++it, --budget) {
    waiting_after_ = *it;
    const Job& job = *state.find(it->second);
    const auto array = state.unfinished_arrays().find(job.id);
    const int64_t jobs =
        array == state.unfinished_arrays().end() ? 1 : tasks_to_come(job, array->second);
    if (jobs == 0) continue;
    auto [known, is_new] = gpus_of_group_.try_emplace(job.spec->group, 0);
    if (is_new) known->second = state.gpus_of_largest_node(job.spec->group);
    const int64_t nodes = jobs * job.spec->node_count;
    const int gpus_per_node = job.spec->gpus_per_node;
    const int64_t gpus = nodes * (gpus_per_node == 0 ? known->second : std::max(0, gpus_per_node));
    const JobSums sums{.jobs = jobs, .nodes = nodes, .gpus = gpus};
    const PendingReason reason = waiting_reason(state, job, controller_.soft_facts());
    add(counting_.waiting_by_reason, std::string(to_string(reason.code)), sums);
    add(counting_.waiting_by_user, job.user, sums);
    add(counting_.waiting_by_group, job.spec->group, sums);
    add(counting_.waiting_by_priority, std::string(to_string(job.priority)), sums);
  }
  return it == state.waiting().end();
}

void JobCensus::finish() {
  const MonoTime now = loop_.now();
  view_ = std::move(counting_);
  is_counting_ = false;
  is_known_ = true;
  fresh_until_ = now + std::max(kFreshMin, (now - began_) * kPauseFactor);
  const auto waiting = std::exchange(waiting_, {});
  for (const auto& done : waiting) done(view_);
}

}  // namespace hai
