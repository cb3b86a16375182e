#include "server/control/attempt/attribution.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "server/control/attempt/array_flow.h"
#include "server/model/lemon_score.h"

namespace hai {
namespace {

// A port that is down may heal before it counts as a failure, and a short cut shows only in its
// counters; what several nodes did together broke by it all the same.
bool breaks_programs(const Decision& decision, const NodeCheck& check, bool is_gang) {
  const CheckResult& result = check.result;
  const bool is_recent = decision.now() - check.since <= decision.knobs().attribution_before;
  if (result.verdict == CheckVerdict::fail) {
    // What the kernel said stands for days and happened once.
    return result.tier >= HealthTier::validate && (is_recent || !result.kind().is_latched);
  }
  if (result.verdict != CheckVerdict::warn) return false;
  if (result.kind().cuts_network) return true;
  return is_gang && result.kind().counts_cuts && is_recent;
}

bool concerns(const CheckResult& check, GpuSet gpus) {
  return check.gpus.is_empty() || gpus.is_empty() || !(check.gpus & gpus).is_empty();
}

std::optional<NodeFault> fault_of(const Decision& decision, const RankPlacement& place,
                                  bool is_gang) {
  const Node* node = decision.state().find(place.node);
  if (node == nullptr) return std::nullopt;
  for (const NodeCheck& check : node->health.checks) {
    if (check.is_settled() || !breaks_programs(decision, check, is_gang)) continue;
    if (!concerns(check.result, place.gpus)) continue;
    return NodeFault{node->id, describe(check.result, *node)};
  }
  // What was acted upon and has healed meanwhile.
  const UnixTime since = decision.now() - decision.knobs().attribution_before;
  for (const NodeMark& mark : node->health.marks) {
    if (mark.at < since || mark.job) continue;
    const bool breaks_alone = mark.kind == MarkKind::evict || mark.kind == MarkKind::drain;
    if (!breaks_alone && !(is_gang && mark.kind == MarkKind::flash_cut)) continue;
    return NodeFault{node->id, fmt::format("{}: {}", node->facts.name, mark.text())};
  }
  return std::nullopt;
}

bool ran_there(const Attempt& attempt, NodeId node, const CheckResult& fault) {
  return std::ranges::any_of(attempt.ranks, [&](const Rank& rank) {
    return rank.place.node == node && concerns(fault, rank.place.gpus);
  });
}

UnixTime oldest_end_to_reopen(const Decision& decision) {
  return decision.now() - decision.knobs().attribution_after;
}

// Since it ended. One that was made while it still ran is a job beside it, not in its place.
bool was_run_again(const ClusterState& state, const Job& job) {
  const JobId newest = state.newest_rerun_of(job.id);
  return newest != job.id && state.find(newest)->submitted_at >= *job.ended_at;
}

// For so long what jobs say of a node counts together.
Duration witness_window(MarkKind kind) { return kind == MarkKind::launch_failed ? 1h : 24h; }

std::vector<const NodeMark*> recent_marks(const Node& node, MarkKind kind, UnixTime now) {
  std::vector<const NodeMark*> marks;
  for (const NodeMark& mark : node.health.marks) {
    if (mark.kind == MarkKind::accepted) marks.clear();
    const bool is_judged = mark.at <= node.health.judged_at;
    if (mark.kind != kind || is_judged || now - mark.at > witness_window(kind)) continue;
    marks.push_back(&mark);
  }
  return marks;
}

}  // namespace

Witnesses witnesses_of(const Node& node, MarkKind kind, UnixTime now) {
  std::set<JobId> jobs;
  std::set<std::string> people;
  for (const NodeMark* mark : recent_marks(node, kind, now)) {
    jobs.insert(mark->job);
    if (!mark->user.empty()) people.insert(mark->user);
  }
  return {jobs.size(), people.size()};
}

void mark_by_job(Decision& decision, NodeId id, MarkKind kind, std::string_view about,
                 const Job& job) {
  std::set<JobId> of_person;
  for (const NodeMark* mark : recent_marks(*decision.state().find(id), kind, decision.now())) {
    if (mark->user == job.user) of_person.insert(mark->job);
  }
  if (of_person.contains(job.id) || of_person.size() >= Witnesses::kJobsNeeded) return;
  decision.emit(NodeMarked{id, kind, std::string(about), job.id, job.user});
}

bool may_be_opened_again(const Decision& decision, const Job& job) {
  const ClusterState& state = decision.state();
  if (job.array_task && !state.unfinished_arrays().contains(job.array_task->array)) return false;
  return job.state == JobState::failed && *job.ended_at >= oldest_end_to_reopen(decision) &&
         !job.stop_requested && !job.spec->is_validation && job.attempt && job.attempt->end &&
         !job.attempt->end->infrastructure && job.attempt->state == AttemptState::failed &&
         job.vain_requeues < decision.knobs().max_requeues &&
         state.find_user(job.user) != nullptr && !was_run_again(state, job) &&
         (job.array_task ||  // shares its array's name
          state.find_unfinished(job.user, job.spec->name) == nullptr);
}

std::string describe(const CheckResult& check, const Node& node) {
  return fmt::format("{}: {}", node.facts.name, describe(check));
}

std::string describe(const CheckResult& check) {
  return fmt::format("{} ({}{}{})", check.summary.substr(0, check.summary.find("; remedy: ")),
                     check.name, check.subject.empty() ? "" : " ", check.subject);
}

std::optional<NodeFault> fault_behind(const Decision& decision, const Attempt& attempt,
                                      size_t failed_rank) {
  const bool is_gang = attempt.ranks.size() > 1;
  if (auto fault = fault_of(decision, attempt.ranks[failed_rank].place, is_gang)) return fault;
  for (const Rank& rank : attempt.holding_ranks()) {
    if (auto fault = fault_of(decision, rank.place, is_gang)) return fault;
  }
  return std::nullopt;
}

void reopen_recent_failures(Decision& decision, const Node& node, const CheckResult& fault) {
  const auto& finished = decision.state().finished();
  std::vector<JobId> jobs;
  for (auto it = finished.lower_bound({oldest_end_to_reopen(decision), JobId{}});
       it != finished.end(); ++it) {
    const Job& job = *decision.state().find(it->second);
    if (may_be_opened_again(decision, job) && ran_there(*job.attempt, node.id, fault)) {
      jobs.push_back(job.id);
    }
  }
  for (JobId id : jobs) {
    if (!may_be_opened_again(decision, *decision.state().find(id))) continue;  // two of one name
    decision.emit(JobReopened{
        id,
        {node.id},
        fmt::format("it failed by a fault that was seen only now: {}", describe(fault, node))});
    // Another one may have taken its place among those that its array lets run.
    const Job& job = *decision.state().find(id);
    if (job.array_task) advance_array(decision, job.array_task->array, 0);
  }
}

}  // namespace hai
