#include "server/plan/time_sharing.h"

#include <algorithm>

#include "server/plan/pass.h"

namespace hai {

std::unique_ptr<Planner> make_planner(VictimChoice victims, bool looks_at_all) {
  return std::make_unique<TimeSharingPlanner>(victims, looks_at_all);
}

Plan plan(const ClusterState& state, const Knobs& knobs, UnixTime now) {
  TimeSharingPlanner planner(VictimChoice::least_lost_work);
  return planner.pass_with_reasons(state, knobs, now);
}

void TimeSharingPlanner::update(const ClusterState& state, const Changes& changes) {
  must_rebuild_ = must_rebuild_ || changes.everything;
  if (!must_rebuild_) apply(state, changes);
}

Plan TimeSharingPlanner::pass(const ClusterState& state, const Knobs& knobs, UnixTime now) {
  return run(state, knobs, now, false);
}

Plan TimeSharingPlanner::pass_with_reasons(const ClusterState& state, const Knobs& knobs,
                                           UnixTime now) {
  return run(state, knobs, now, true);
}

Plan TimeSharingPlanner::run(const ClusterState& state, const Knobs& knobs, UnixTime now,
                             bool with_reasons) {
  const bool takes_turns = turns_at_ == UnixTime::min() || now - turns_at_ >= knobs.plan_period;
  if (takes_turns) turns_at_ = now;
  Plan plan = run_pass(state, knobs, now, index_at(state, knobs, now), victim_choice_, takes_turns,
                       looks_at_all_, with_reasons);
  reasons_ = plan.pending;
  return plan;
}

PlanIndex& TimeSharingPlanner::index_at(const ClusterState& state, const Knobs& knobs,
                                        UnixTime now) {
  knobs_ = knobs;
  now_ = now;
  if (must_rebuild_) rebuild(state);
  index_.running.advance(state, index_.capacity, index_.ledger, knobs, now);
  index_.waiting.advance(state, index_.capacity, index_.ledger, knobs, now);
  index_.ledger.begin_pass(knobs, now);
  return index_;
}

void TimeSharingPlanner::rebuild(const ClusterState& state) {
  must_rebuild_ = false;
  index_ = PlanIndex();
  index_.capacity.rebuild(state);
  index_.ledger.rebuild(state);
  for (const auto& [id, node] : state.nodes()) {
    if (node.scheduling == Scheduling::draining) index_.draining.insert(id);
    if (!node.health.marks.empty()) index_.marked.insert(id);
  }
  for (JobId id : state.live()) file_job(state, id);
  for (const auto& [order, id] : state.waiting()) file_job(state, id);
}

void TimeSharingPlanner::apply(const ClusterState& state, const Changes& changes) {
  auto unique = [](auto ids) {
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  };
  std::vector<NodeId> nodes = unique(changes.nodes);
  std::erase_if(nodes, [&state](NodeId id) { return state.find(id)->removed_at.has_value(); });
  for (NodeId id : nodes) {
    const Node& node = *state.find(id);
    index_.capacity.refresh(node);
    if (node.scheduling == Scheduling::draining) {
      index_.draining.insert(id);
    } else {
      index_.draining.erase(id);
    }
    if (!node.health.marks.empty()) index_.marked.insert(id);
  }
  for (JobId id : unique(changes.jobs)) update_job(state, id);
  for (NodeId id : nodes) {
    index_.running.refresh_slot(index_.capacity, index_.capacity.index_of(id));
  }
}

void TimeSharingPlanner::update_job(const ClusterState& state, JobId id) {
  const Job* job = state.find(id);
  if (job != nullptr) {
    const int person = index_.ledger.find(job->user);
    if (person >= 0) index_.ledger.set_usage(person, state.find_user(job->user)->usage);
    index_.ledger.refresh(state, job->user, job->spec->group);
  } else {  // It ended and is forgotten already.
    index_.ledger.refresh(state);
  }
  file_job(state, id);
}

void TimeSharingPlanner::file_job(const ClusterState& state, JobId id) {
  index_.running.update(state, index_.capacity, index_.ledger, knobs_, now_, id);
  index_.waiting.update(state, index_.capacity, index_.ledger, knobs_, now_, id);
}

PendingReason TimeSharingPlanner::pending_reason(const ClusterState& state, const Job& job) const {
  if (must_rebuild_) return {PendingCode::not_considered, "the next planning pass will look at it"};
  if (auto it = reasons_.find(job.id); it != reasons_.end()) return it->second;
  return reason_now(state, index_, knobs_, now_, job);
}

}  // namespace hai
