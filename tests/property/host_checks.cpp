#include "tests/property/host_checks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "server/plan/snapshot.h"
#include "tests/property/random_plan_world.h"

namespace hai::test {
namespace {

bool is_without_gpus(const Cluster& c, JobId id) { return !c.job(id).spec->asks_gpus(); }

// For another job or in any case: who takes its place interrupts nobody anew and pays nothing, as
// for a job without GPUs. Of two such the planner need not take the one without.
bool is_leaving(const Cluster& c, JobId id) {
  const Attempt& attempt = c.attempt(id);
  return attempt.end || attempt.state == AttemptState::suspending;
}

// The cluster without some of its jobs without GPUs. Copies that differ in nothing else are
// compared with each other: they lack what a copy for planning leaves out.
template <typename Stays>
ClusterState stripped(const Cluster& c, Stays&& stays) {
  StoredState copy = copy_for_planning(c.state(), c.knobs, c.now, {.waiting_max = 1'000});
  std::erase_if(copy.jobs, [&](const Job& job) { return !job.spec->asks_gpus() && !stays(job); });
  return ClusterState(std::move(copy));
}

// Of the jobs with GPUs.
std::string text_for_gpus(Plan plan, const Cluster& c) {
  plan.pending.clear();
  std::erase_if(plan.starts, [&](const auto& item) { return is_without_gpus(c, item.job); });
  return text_of(plan);
}

}  // namespace

bool expect_waiting_ones_change_nothing(const Cluster& c) {
  const bool one_waits = std::ranges::any_of(
      c.state().waiting(), [&](const auto& entry) { return is_without_gpus(c, entry.second); });
  if (!one_waits) return false;
  const ClusterState without = stripped(c, [](const Job& job) { return job.has_live_attempt(); });
  const ClusterState full = stripped(c, [](const Job&) { return true; });
  EXPECT_EQ(text_for_gpus(plan(full, c.knobs, c.now), c),
            text_for_gpus(plan(without, c.knobs, c.now), c));
  return true;
}

bool expect_first_is_not_delayed(const Cluster& c) {
  const ClusterState without = stripped(c, [](const Job&) { return false; });
  const Plan alone = plan(without, c.knobs, c.now);
  const auto first = std::ranges::find_if(
      alone.starts, [&](const StartItem& item) { return !c.job(item.job).reservation; });
  // Whoever comes before it must not have been given a place either, which might be another one:
  // nor one anew whose held nodes were taken back.
  if (first == alone.starts.end() || !alone.reserves.empty() || !alone.drops.empty()) return false;
  const Plan full = plan(stripped(c, [](const Job&) { return true; }), c.knobs, c.now);
  const auto is_it = [&](const auto& item) { return item.job == first->job; };
  if (std::ranges::any_of(full.starts, is_it)) return true;
  const auto held = std::ranges::find_if(full.reserves, is_it);
  EXPECT_NE(held, full.reserves.end()) << "job " << first->job.value << " waits: " << text_of(full);
  if (held == full.reserves.end()) return true;
  for (JobId victim : held->victims) {
    EXPECT_TRUE(is_without_gpus(c, victim) || is_leaving(c, victim)) << text_of(full);
  }
  return true;
}

}  // namespace hai::test
