// ClusterState, the part about the health of nodes and what follows from it.

#include <algorithm>

#include "common/check.h"
#include "server/model/cluster_state.h"

namespace hai {
namespace {

constexpr size_t kMeasuredMax = 128;

bool is_before(const NodeCheck& a, const NodeCheck& b) {
  return std::tie(a.result.name, a.result.subject) < std::tie(b.result.name, b.result.subject);
}

}  // namespace

void ClusterState::on(const IncidentNoted& event, const Event& meta) {
  std::vector<IncidentNote>& notes = incidents_.change(event.incident).notes;
  // The first ones say how it began; of a story that does not end the middle is left out.
  if (notes.size() >= Incident::kNotesMax) notes.erase(notes.begin() + Incident::kNotesMax / 2);
  notes.push_back({meta.time, event.text});
}

// What was done about a fault stands as long as the fault does; one that happened again is new.
void ClusterState::on(const NodeCheckChanged& event, const Event& meta) {
  Node& changed = node(event.node);
  std::vector<NodeCheck>& checks = changed.health.checks;
  NodeCheck fresh{event.check, meta.time, FaultAnswer::none};
  auto at = std::lower_bound(checks.begin(), checks.end(), fresh, is_before);
  const bool is_known = at != checks.end() && !is_before(fresh, *at);
  const bool is_well =
      event.check.verdict == CheckVerdict::ok || event.check.verdict == CheckVerdict::unknown;
  if (is_known) {
    const CheckResult& old = at->result;
    const bool is_same_fault = old.verdict == event.check.verdict && old.at == event.check.at &&
                               old.tier >= event.check.tier;
    if (is_same_fault) fresh.since = at->since, fresh.done = at->done;
    if (is_well) {
      checks.erase(at);
    } else {
      *at = std::move(fresh);
    }
  } else if (!is_well && checks.size() < NodeHealth::kChecksMax) {
    checks.insert(at, std::move(fresh));
  }
}

void ClusterState::on(const NodeCheckHandled& event, const Event&) {
  Node& changed = node(event.node);
  for (NodeCheck& check : changed.health.checks) {
    if (check.result.name == event.name && check.result.subject == event.subject) {
      check.done = event.done;
    }
  }
}

void ClusterState::on(const NodeMarked& event, const Event& meta) {
  std::vector<NodeMark>& marks = node(event.node).health.marks;
  if (marks.size() >= NodeHealth::kMarksMax) marks.erase(marks.begin());
  marks.push_back({meta.time, event.kind, event.about, event.cause, event.user});
}

void ClusterState::on(const NodeRepairChanged& event, const Event& meta) {
  NodeRepair& repair = node(event.node).health.repair;
  repair = event.repair;
  repair.since = meta.time;
}

void ClusterState::on(const NodeValidated& event, const Event& meta) {
  NodeHealth& health = node(event.node).health;
  if (event.passed && !event.is_light) health.validated_at = meta.time;
  health.judged_at = meta.time;
  health.is_passed = event.passed;
  health.judgement = event.summary;
  // A light check measures less, and otherwise, than a full one: both are kept.
  for (const NodeMeasure& measure : event.measured) {
    auto known = std::ranges::find(health.measured, measure.name, &NodeMeasure::name);
    if (known != health.measured.end()) {
      *known = measure;
    } else if (health.measured.size() < kMeasuredMax) {
      health.measured.push_back(measure);
    }
  }
}

void ClusterState::on(const JobReopened& event, const Event& meta) {
  Job& reopened = job(event.job);
  CHECK(reopened.state == JobState::failed);
  if (ArrayCounts* counts = counts_of(reopened)) {
    ++counts->unfinished;
    --counts->failed;
    remove(counts->noted_gaps().without_success, reopened.array_task->index);
  }
  unindex(reopened);
  // The one way back from an end: nobody but this event takes it.
  reopened.state = reopened.started_at ? JobState::suspended : JobState::queued;
  reopened.ended_at.reset();
  reopened.exit_code = 0;
  reopened.end_reason.clear();
  reopened.waiting_since = meta.time;
  ++reopened.counters.requeue_count;
  ++reopened.vain_requeues;
  for (NodeId bad : event.avoid) {
    std::erase(reopened.avoid, bad);
    reopened.avoid.push_back(bad);
  }
  if (reopened.avoid.size() > Job::kAvoidMax) {
    reopened.avoid.erase(reopened.avoid.begin(), reopened.avoid.end() - Job::kAvoidMax);
  }
  index(reopened);
  const auto it = dependents_.find(event.job);
  if (it == dependents_.end()) return;
  for (JobId waiting : std::set<JobId>(it->second)) note_failed_dependency(job(waiting));
}

}  // namespace hai
