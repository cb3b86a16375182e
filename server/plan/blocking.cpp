#include "server/plan/blocking.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "common/array_range.h"
#include "common/hostlist.h"
#include "server/plan/blocking_search.h"
#include "server/plan/blocking_text.h"
#include "server/plan/eligible.h"
#include "server/plan/leaving.h"
#include "server/plan/order.h"

namespace hai {
namespace {

std::string job_holder(JobId id) { return fmt::format("job/{}", id.value); }

void add_ineligible(const ClusterState& state, const Job& job, UnixTime now,
                    std::vector<BlockingFact>& facts) {
  const User* user = state.find_user(job.user);
  if (user == nullptr || !user->active) {
    facts.push_back({BlockingKind::user_inactive,
                     fmt::format("user {} is not active", job.user),
                     {"user/" + job.user}});
  }
  if (job.is_held_by_limit()) {
    facts.push_back({BlockingKind::array, job.hold_reason});
  } else if (job.held) {
    facts.push_back({BlockingKind::held, job.hold_reason.empty() ? "held" : job.hold_reason});
  }
  if (job.spec->begin_at && *job.spec->begin_at > now) {
    facts.push_back({BlockingKind::begin_time,
                     fmt::format("begins at {}", format_rfc3339(*job.spec->begin_at))});
  }
  if (const auto restart = job.restarts_at(); restart && *restart > now) {
    facts.push_back({BlockingKind::backoff, backoff_text(job, *restart)});
  }
  if (job.failed_dependency) {
    facts.push_back({BlockingKind::dependency,
                     failed_dependency_text(state, job),
                     {job_holder(job.failed_dependency)},
                     job.failed_dependency});
  }
  for (const Dependency& each : job.unmet_dependencies) {
    if (each.job == job.failed_dependency) continue;
    if (each.condition == DependencyCondition::aftercorr) continue;  // its tasks wait for that
    const Job* other = state.find(each.job);
    const std::string who =
        other == nullptr ? fmt::format("job {}", each.job.value)
                         : fmt::format("{}, which is {},", title(*other), to_string(other->state));
    const std::string_view what =
        each.condition == DependencyCondition::singleton ? "to end" : awaited(each.condition);
    facts.push_back({BlockingKind::dependency,
                     fmt::format("{} has {} first ({})", who, what, to_string(each.condition)),
                     {job_holder(each.job)},
                     each.job});
  }
}

std::vector<JobId> jobs_of(const Hypothesis& hypothesis, const Blockade& blockade) {
  std::vector<JobId> jobs;
  for (int obstacle : blockade.obstacles) {
    if (JobId id = hypothesis.obstacles()[obstacle].job) jobs.push_back(id);
  }
  return jobs;
}

void add_quota(const ClusterState& state, const Job& job, const Hypothesis& hypothesis,
               const Blockade& blockade, std::vector<BlockingFact>& facts) {
  std::string text = hypothesis.quota_text(state, jobs_of(hypothesis, blockade));
  if (text.empty()) return;
  BlockingFact fact{BlockingKind::quota, std::move(text)};
  auto add_user_of_it = [&](const Job& other, Priority level) {
    if (other.id == job.id || other.user != job.user || level != hypothesis.level()) return;
    if (other.spec->group == job.spec->group) fact.holders.push_back(job_holder(other.id));
  };
  for (JobId id : state.live()) {
    const Job& other = *state.find(id);
    add_user_of_it(other, other.attempt->priority);
  }
  for (const Job* other : hypothesis.reservations()) {
    add_user_of_it(*other, other->reservation->priority);
  }
  facts.push_back(std::move(fact));
}

// A job that holds nodes waits for whoever still stands on them.
bool add_leaving(const ClusterState& state, const Job& job, std::vector<BlockingFact>& facts) {
  for (const RankPlacement& place : job.reservation->placement) {
    if (!state.find(place.node)->takes_jobs()) return false;
  }
  for (JobId id : waits_for(state, job)) {
    const Job& other = *state.find(id);
    facts.push_back({BlockingKind::job, leaving_text(state, other), {job_holder(id)}, id});
  }
  return true;
}

BlockingFact fact_of(const ClusterState& state, const Knobs& knobs, const Hypothesis& hypothesis,
                     const Obstacle& obstacle, bool for_crossing) {
  if (obstacle.kind == Obstacle::Kind::node) {
    const Node& node = *state.find(obstacle.node);
    return {BlockingKind::node, node_text(node), {"node/" + node.facts.name}, {}, obstacle.node};
  }
  const Job& job = *state.find(obstacle.job);
  BlockingFact fact{BlockingKind::job, "", {job_holder(job.id)}, job.id};
  if (for_crossing) {
    fact.kind = BlockingKind::cross_zone;
    fact.text = fmt::format(
        "no zone is large enough, and {} runs across zones already, as many as may at a time ({})",
        title(job), knobs.max_cross_zone_jobs);
  } else if (obstacle.kind == Obstacle::Kind::reservation) {
    fact.kind = BlockingKind::reservation;
    fact.text = reservation_text(state, job);
  } else {
    fact.text = victim_text(state, knobs, hypothesis, job);
  }
  return fact;
}

}  // namespace

std::string_view to_string(BlockingKind kind) {
  switch (kind) {
    case BlockingKind::user_inactive:
      return "user_inactive";
    case BlockingKind::held:
      return "held";
    case BlockingKind::begin_time:
      return "begin_time";
    case BlockingKind::backoff:
      return "backoff";
    case BlockingKind::array:
      return "array";
    case BlockingKind::dependency:
      return "dependency";
    case BlockingKind::quota:
      return "quota";
    case BlockingKind::node:
      return "node";
    case BlockingKind::job:
      return "job";
    case BlockingKind::reservation:
      return "reservation";
    case BlockingKind::cross_zone:
      return "cross_zone";
    case BlockingKind::hardware:
      return "hardware";
  }
  return "job";
}

std::vector<BlockingFact> blocking_set(const ClusterState& state, const Knobs& knobs, UnixTime now,
                                       JobId id) {
  const Job& job = *state.find(id);
  std::vector<BlockingFact> facts;
  add_ineligible(state, job, now, facts);
  if (job.is_array()) {
    if (!facts.empty()) return facts;
    facts.push_back(
        {BlockingKind::array,
         fmt::format("an array starts by its tasks: `hai why {}_{}` says of one what it "
                     "waits for",
                     id.value, ArrayRange::parse(job.spec->array).value().first())});
    return facts;
  }
  if (job.reservation && add_leaving(state, job, facts)) return facts;
  std::optional<Hypothesis> at_level(std::in_place, state, knobs, now, job);
  Blockade blockade = find_blockade(*at_level);
  // An automatic level whose quota is used up is the one that those give back who have to go, and
  // may be so low that others stand in its way.
  if (const auto gone = jobs_of(*at_level, blockade);
      !at_level->quota_text(state, {}).empty() && at_level->quota_text(state, gone).empty()) {
    at_level.emplace(state, knobs, now, job, gone);
    blockade = find_blockade(*at_level);
  }
  const Hypothesis& hypothesis = *at_level;
  drop_needless_of_auto(state, knobs, now, hypothesis, blockade);
  add_quota(state, job, hypothesis, blockade, facts);
  if (blockade.is_hopeless) {
    facts.push_back(hardware_fact(knobs, hypothesis));
    return facts;
  }
  std::vector<BlockingFact> standing;
  for (int index : blockade.obstacles) {
    const bool for_crossing =
        std::ranges::find(blockade.crossing, index) != blockade.crossing.end();
    standing.push_back(
        fact_of(state, knobs, hypothesis, hypothesis.obstacles()[index], for_crossing));
  }
  std::ranges::sort(standing, {}, [](const BlockingFact& fact) {
    return std::tuple(fact.kind, fact.node, fact.job);
  });
  facts.insert(facts.end(), standing.begin(), standing.end());
  return facts;
}

}  // namespace hai
