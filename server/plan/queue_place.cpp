#include "server/plan/queue_place.h"

#include <algorithm>
#include <map>
#include <string>

#include "server/plan/eligible.h"
#include "server/plan/ledger.h"
#include "server/plan/order.h"
#include "server/plan/waiting.h"

namespace hai {
namespace {

OrderKey key_of(const ClusterState& state, const Knobs& knobs, UnixTime now, const Job& job) {
  const Priority asked = job.priority == Priority::automatic ? kAutoCeiling : job.priority;
  const User* user = state.find_user(job.user);
  UnixTime unused{};
  OrderKey key{.level = -static_cast<int>(order_level(knobs, job, asked, now)),
               .feedback_class = waiting_class(knobs, job, now, &unused),
               .custom_rank = job.custom_rank,
               .job = job.id};
  if (user != nullptr && knobs.policy == Policy::feedback) {
    key.usage = decayed(user->usage, now, knobs.usage_half_life);
  }
  return key;
}

}  // namespace

std::optional<int> jobs_before(const ClusterState& state, const Knobs& knobs, UnixTime now,
                               JobId id) {
  const Job* job = state.find(id);
  if (job == nullptr || job->reservation || not_eligible(state, *job, now)) return std::nullopt;
  const OrderKey own = key_of(state, knobs, now, *job);
  int count = 0;
  for (const auto& [order, other_id] : state.waiting()) {
    const Job& other = *state.find(other_id);
    if (other_id == id || other.spec->group != job->spec->group || other.reservation) continue;
    if (key_of(state, knobs, now, other) < own && !not_eligible(state, other, now)) ++count;
  }
  return count;
}

std::vector<QueuePlace> queue_places(const ClusterState& state, const Knobs& knobs, UnixTime now) {
  std::map<std::string, std::vector<OrderKey>> queues;  // by node group
  std::vector<QueuePlace> places;
  std::vector<QueuePlace> others;
  for (const auto& [order, id] : state.waiting()) {
    const Job& job = *state.find(id);
    const OrderKey key = key_of(state, knobs, now, job);
    if (job.reservation || not_eligible(state, job, now)) {
      others.push_back({.job = id, .feedback_class = key.feedback_class});
    } else {
      queues[job.spec->group].push_back(key);
    }
  }
  for (auto& [group, queue] : queues) {
    std::ranges::sort(queue);
    // Where the run of keys began that agree so far: what lies before it is ahead by what follows.
    int level = 0;
    int feedback_class = 0;
    int usage = 0;
    for (int i = 0; i < static_cast<int>(queue.size()); ++i) {
      const OrderKey& key = queue[i];
      const OrderKey& last = queue[std::max(0, i - 1)];
      const bool same_level = key.level == last.level;
      const bool same_class = same_level && key.feedback_class == last.feedback_class;
      if (!same_level) level = i;
      if (!same_class) feedback_class = i;
      if (!same_class || key.usage != last.usage) usage = i;
      places.push_back({.job = key.job,
                        .position = i + 1,
                        .ahead = {.by_priority = level,
                                  .by_class = feedback_class - level,
                                  .by_usage = usage - feedback_class,
                                  .by_age = i - usage},
                        .feedback_class = key.feedback_class});
    }
  }
  std::ranges::sort(others, {}, &QueuePlace::job);
  places.insert(places.end(), others.begin(), others.end());
  return places;
}

}  // namespace hai
