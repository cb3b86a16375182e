#include "server/plan/queue_place.h"

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

}  // namespace hai
