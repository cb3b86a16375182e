// How each event changes the state. Nothing here decides: an event that does not fit is a bug and
// stops the program, because going on would make the log and the state tell different stories.

#include <algorithm>

#include "common/check.h"
#include "server/model/cluster_state.h"

namespace hai {
namespace {

// Its work is not lost with it. A job that tells of no checkpoints is believed after a day.
bool got_anywhere(const Job& job, const Attempt& attempt) {
  if (!attempt.running_at) return false;
  if (job.checkpoint && job.checkpoint->at > *attempt.running_at) return true;
  return attempt.ended_at && *attempt.ended_at - *attempt.running_at >= 24h;
}

void set_state(Attempt& attempt, AttemptState next) {
  CHECK(may_follow(attempt.state, next));
  attempt.state = next;
}

void set_state(Job& job, JobState next) {
  CHECK(may_follow(job.state, next));
  job.state = next;
}

// Where an attempt stands if nobody asks it to suspend.
AttemptState unsuspended_state(const Attempt& attempt) {
  if (attempt.running_at) return AttemptState::running;
  bool any = std::ranges::any_of(attempt.ranks,
                                 [](const Rank& r) { return r.state != RankState::pending; });
  return any ? AttemptState::starting : AttemptState::placed;
}

// Only if none of its nodes is in an earlier one: a job that fails twice on a node says something
// of the node.
void note_early_failure(Job& job, const std::string& reason) {
  EarlyFailure failure{{}, reason};
  for (const Rank& rank : job.attempt->ranks) {
    failure.nodes.push_back(rank.place.node);
    failure.could_not_start = failure.could_not_start || rank.cause == ExitCause::launch_failed;
  }
  std::ranges::sort(failure.nodes);
  if (job.early_failures.size() >= Job::kEarlyFailuresMax) return;
  for (const EarlyFailure& other : job.early_failures) {
    for (NodeId node : failure.nodes) {
      if (std::ranges::binary_search(other.nodes, node)) return;
    }
  }
  job.early_failures.push_back(std::move(failure));
}

}  // namespace

// A new leader has heard of no node yet: nodes count as up only after they have reported to it.
void ClusterState::on(const EpochStarted& event, const Event& meta) {
  CHECK(event.epoch > epoch_);
  epoch_ = event.epoch;
  epoch_began_at_ = meta.time;
  changes_ = {.everything = true};
  // What a leader that loads its state from rows does not know is forgotten by everybody, so that a
  // replay of the log plans as that leader did.
  moves_.clear();
  largest_nodes_.clear();
  for (const auto& [id, node] : nodes_.all()) {
    note_node_size(node);
    if (node.liveness != Liveness::up) continue;
    Node& silent = nodes_.change(id);
    silent.liveness = Liveness::suspect;
    silent.liveness_reason = kNotHeardOf;
  }
}

void ClusterState::on(const UserSet& event, const Event&) {
  const User* known = users_.find(event.user.name);
  User user = event.user;
  user.usage = known == nullptr ? GpuUsage{} : known->usage;
  users_.set(event.user.name, std::move(user));
  changes_ = {.everything = true};
}

void ClusterState::on(const QuotaSet& event, const Event&) {
  quotas_.set({event.quota.owner, event.quota.group, event.quota.priority}, event.quota);
  changes_ = {.everything = true};
}

void ClusterState::on(const QuotaRemoved& event, const Event&) {
  quotas_.remove({event.quota.owner, event.quota.group, event.quota.priority});
  changes_ = {.everything = true};
}

void ClusterState::on(const TokenSet& event, const Event&) {
  tokens_.set(event.token.hash, event.token);
}

void ClusterState::on(const TokenRevoked& event, const Event&) { tokens_.remove(event.hash); }

void ClusterState::on(const TokensUsed& event, const Event&) {
  for (const auto& [hash, at] : event.used) {
    if (tokens_.contains(hash)) tokens_.change(hash).last_used_at = at;
  }
}

void ClusterState::on(const SecretSet& event, const Event&) {
  secrets_.set({event.secret.user, event.secret.name}, event.secret);
}

void ClusterState::on(const SecretRemoved& event, const Event&) {
  secrets_.remove({event.user, event.name});
}

void ClusterState::on(const NodeIdentitySet& event, const Event&) {
  identities_.set(event.identity.node, event.identity);
}

void ClusterState::on(const UserRemoved& event, const Event&) {
  users_.remove(event.user);
  changes_ = {.everything = true};
}

void ClusterState::on(const KnobSet& event, const Event&) {
  knobs_.set(event.setting.name, event.setting);
  changes_ = {.everything = true};
}

void ClusterState::on(const KnobUnset& event, const Event&) {
  knobs_.remove(event.name);
  changes_ = {.everything = true};
}

// Null if it is no task. A copy for planning may lack the array.
ArrayCounts* ClusterState::counts_of(const Job& task) {
  if (!task.array_task || find(task.array_task->array) == nullptr) return nullptr;
  return &job(task.array_task->array).array;
}

void ClusterState::on(const JobSubmitted& event, const Event& meta) {
  CHECK(event.job.value == last_job_.value + 1);
  last_job_ = event.job;
  Job job;
  job.id = event.job;
  job.user = event.user;
  job.request_id = event.request_id;
  job.spec = event.spec;
  job.priority = event.spec->priority;
  job.submitted_at = meta.time;
  job.waiting_since = meta.time;
  job.custom_rank = event.job.value;
  job.unmet_dependencies = event.dependencies;
  job.array_task = event.array_task;
  job.rerun_of = event.rerun_of.value_or(JobId{});
  if (ArrayCounts* counts = counts_of(job)) {
    counts->note_made(unfinished_arrays_.at(job.array_task->array), job.array_task->index);
    ++counts->unfinished;
  }
  index(jobs_.set(event.job, std::move(job)));
  note_change(event.job);
  if (event.rerun_of) wait_for_rerun(*event.rerun_of, event.job);
}

void ClusterState::on(const JobEdited& event, const Event&) {
  Job& edited = job(event.job);
  JobSpec spec = *edited.spec;
  if (event.timeout) spec.timeout = *event.timeout;
  if (event.tags) spec.tags = *event.tags;
  if (event.node_count) spec.node_count = *event.node_count;
  if (event.begin_at) spec.begin_at = event.begin_at;
  if (spec.begin_at == UnixTime{}) spec.begin_at.reset();
  if (event.array_limit) {
    ArrayRange& range = unfinished_arrays_.at(event.job);
    spec.array = range.with_limit(*event.array_limit);
    range = ArrayRange::parse(spec.array).value();
  }
  edited.spec = std::make_shared<const JobSpec>(std::move(spec));
}

void ClusterState::on(const JobUsesSdk& event, const Event&) { job(event.job).uses_sdk = true; }

void ClusterState::on(const JobHeld& event, const Event&) {
  Job& held = job(event.job);
  unindex(held);
  held.held = true;
  held.hold_reason = event.reason;
  index(held);
}

void ClusterState::on(const JobReleased& event, const Event& meta) {
  Job& released = job(event.job);
  unindex(released);
  if (released.held) released.waiting_since = meta.time;
  released.held = false;
  released.hold_reason.clear();
  index(released);
}

void ClusterState::on(const JobPriorityChanged& event, const Event&) {
  Job& changed = job(event.job);
  unindex(changed);
  changed.priority = event.priority;
  index(changed);
}

void ClusterState::on(const JobRankChanged& event, const Event&) {
  job(event.job).custom_rank = event.custom_rank;
}

void ClusterState::on(const JobStopRequested& event, const Event&) {
  job(event.job).stop_requested = true;
}

void ClusterState::on(const JobFinished& event, const Event& meta) {
  Job& finished = job(event.job);
  CHECK(!finished.has_live_attempt() && !finished.reservation);
  unindex(finished);
  set_state(finished, event.state);
  finished.ended_at = meta.time;
  finished.exit_code = event.exit_code;
  finished.end_reason = event.reason;
  if (ArrayCounts* counts = counts_of(finished)) {
    --counts->unfinished;
    ++counts->of(event.state);
    if (event.state != JobState::succeeded) {
      const int index = finished.array_task->index;
      add(counts->noted_gaps().without_success, {index, index});
    }
  }
  index(finished);
  settle_dependents(finished, meta.time);
}

void ClusterState::on(const NodesReserved& event, const Event&) {
  Job& owner = job(event.job);
  CHECK(owner.is_waiting() && !owner.reservation);
  owner.reservation = event.reservation;
  if (event.reservation.is_move) {
    moves_.emplace_back(event.reservation.since, event.reservation.victims.size());
    if (moves_.size() > kMovesMax) moves_.pop_front();
  }
  reserved_.insert(owner.id);
  hold(owner);
}

void ClusterState::on(const ReservationDropped& event, const Event&) {
  Job& owner = job(event.job);
  CHECK(owner.reservation.has_value());
  unhold(owner);
  owner.reservation.reset();
  reserved_.erase(owner.id);
}

void ClusterState::on(const AttemptPlaced& event, const Event& meta) {
  Job& placed = job(event.job);
  CHECK(placed.is_waiting() && event.attempt == placed.next_attempt());
  for (const RankPlacement& place : event.placement) {
    CHECK(without(place.gpus, derived_node(place.node).free_gpus(event.job)).is_empty());
  }
  unindex(placed);
  if (placed.reservation) {
    unhold(placed);
    placed.reservation.reset();
  }
  Attempt attempt;
  attempt.number = event.attempt;
  attempt.priority = event.priority;
  attempt.master_port = event.master_port;
  attempt.exclusive = event.exclusive;
  attempt.jumper = event.jumper;
  attempt.placed_at = meta.time;
  for (const RankPlacement& place : event.placement) attempt.ranks.push_back({.place = place});
  if (placed.attempt) replaced_attempts_.push_back({event.job, std::move(*placed.attempt)});
  placed.attempt = std::move(attempt);
  index(placed);
  occupy(placed);
}

void ClusterState::on(const AttemptStarting& event, const Event&) {
  set_state(live_attempt(event.job, event.attempt), AttemptState::starting);
}

void ClusterState::on(const RankRunning& event, const Event&) {
  Rank& rank = live_attempt(event.job, event.attempt).ranks.at(event.rank);
  CHECK(rank.state == RankState::pending);
  rank.state = RankState::running;
  --rank_counts_.at(event.job).pending;
}

void ClusterState::on(const RankEnded& event, const Event& meta) {
  Rank& rank = live_attempt(event.job, event.attempt).ranks.at(event.rank);
  CHECK(!is_gone(rank.state) && is_gone(event.state));
  RankCounts& counts = rank_counts_.at(event.job);
  counts.pending -= rank.state == RankState::pending;
  counts.add_gone(event.cause, event.exit_code);
  if (event.state == RankState::released) {
    Job& owner = job(event.job);
    add_units(owner, -rank_units(*owner.attempt, rank, find(rank.place.node)->facts.gpus));
    vacate(owner, rank);
    owner.gpu_seconds += event.gpu_seconds;
    note_usage(owner, event.gpu_seconds, event.user_gpu_seconds, meta.time);
  }
  rank.state = event.state;
  rank.cause = event.cause;
  rank.exit_code = event.exit_code;
  rank.message = event.message;
  if (!event.usage) return;
  JobCounters& counters = job(event.job).counters;
  counters.cpu_time = std::min(counters.cpu_time + event.usage->cpu_time, JobCounters::kCpuTimeMax);
  counters.peak_memory_bytes = std::max(counters.peak_memory_bytes, event.usage->peak_memory_bytes);
}

void ClusterState::on(const AttemptRunning& event, const Event& meta) {
  Attempt& attempt = live_attempt(event.job, event.attempt);
  if (attempt.state != AttemptState::suspending) set_state(attempt, AttemptState::running);
  attempt.running_at = meta.time;
  Job& owner = job(event.job);
  if (owner.state != JobState::running) set_state(owner, JobState::running);
  owner.launch_failures = 0;
  if (owner.started_at) return;
  owner.started_at = meta.time;
  settle_dependents(owner, meta.time);
}

void ClusterState::on(const AttemptSuspending& event, const Event&) {
  Attempt& attempt = live_attempt(event.job, event.attempt);
  set_state(attempt, AttemptState::suspending);
  attempt.suspend_deadline = event.deadline;
  attempt.suspended_for = event.beneficiary;
  attempt.suspend_reason = event.reason;
}

void ClusterState::on(const AttemptContinued& event, const Event&) {
  Attempt& attempt = live_attempt(event.job, event.attempt);
  set_state(attempt, unsuspended_state(attempt));
  attempt.suspend_deadline.reset();
  attempt.suspended_for = {};
  attempt.suspend_reason.clear();
}

void ClusterState::on(const AttemptEnding& event, const Event&) {
  Attempt& attempt = live_attempt(event.job, event.attempt);
  CHECK(is_terminal(event.end.outcome));
  attempt.end = event.end;
}

void ClusterState::on(const AttemptEnded& event, const Event& meta) {
  Attempt& attempt = live_attempt(event.job, event.attempt);
  CHECK(std::ranges::all_of(attempt.ranks, [](const Rank& rank) { return is_gone(rank.state); }));
  Job& owner = job(event.job);
  vacate(owner);
  unindex(owner);
  set_state(attempt, event.outcome);
  attempt.ended_at = meta.time;
  if (attempt.end) {  // What it was about to end as; now all its ranks have been heard of.
    attempt.end->outcome = event.outcome;
    attempt.end->reason = event.reason;
  }
  owner.counters.lost_gpu_seconds += event.lost_gpu_seconds;
  owner.counters.run_seconds += attempt.ran_seconds();
  owner.gpu_seconds += event.gpu_seconds;
  owner.waiting_since = meta.time;
  note_usage(owner, event.gpu_seconds, event.user_gpu_seconds, meta.time);
  for (NodeId bad : event.avoid) {
    std::erase(owner.avoid, bad);
    owner.avoid.push_back(bad);
  }
  if (owner.avoid.size() > Job::kAvoidMax) {
    owner.avoid.erase(owner.avoid.begin(), owner.avoid.end() - Job::kAvoidMax);
  }
  if (event.ran_long) owner.early_failures.clear();
  if (got_anywhere(owner, attempt)) owner.vain_requeues = 0;
  if (event.failed_early) note_early_failure(owner, event.reason);
  if (event.outcome == AttemptState::suspended) ++owner.counters.suspend_count;
  // Whoever ran waits again as suspended; whoever never did stays queued.
  if (owner.state == JobState::running) set_state(owner, JobState::suspended);
  index(owner);
}

void ClusterState::on(const JobRequeued& event, const Event&) {
  Job& requeued = job(event.job);
  CHECK(requeued.is_waiting());
  if (event.infrastructure) {
    ++requeued.counters.requeue_count;
    ++requeued.vain_requeues;
  } else {
    ++requeued.failure_restarts;
  }
  if (event.launch_failed) ++requeued.launch_failures;
}

void ClusterState::on(const CheckpointReported& event, const Event&) {
  Job& owner = job(event.job);
  const UnixTime began =
      owner.attempt ? owner.attempt->running_at.value_or(UnixTime::max()) : UnixTime::max();
  if (owner.checkpoint && owner.checkpoint->at >= began &&
      event.checkpoint.at > owner.checkpoint->at) {
    owner.checkpoint_gap = event.checkpoint.at - owner.checkpoint->at;
  }
  owner.checkpoint = event.checkpoint;
}

void ClusterState::on(const LifeStateSet& event, const Event&) {
  job(event.job).whole_life_state = event.value;
}

void ClusterState::on(const IncidentOpened& event, const Event& meta) {
  CHECK(event.incident.value == last_incident_.value + 1);
  last_incident_ = event.incident;
  Incident& opened = incidents_.set(event.incident, {.id = event.incident});
  opened.kind = event.kind;
  opened.subject = event.subject;
  opened.summary = event.summary;
  opened.nodes = event.nodes;
  opened.opened_at = meta.time;
}

void ClusterState::on(const IncidentChanged& event, const Event&) {
  Incident& changed = incidents_.change(event.incident);
  changed.summary = event.summary;
  changed.nodes = event.nodes;
}

void ClusterState::on(const IncidentClosed& event, const Event& meta) {
  CHECK(incidents_.contains(event.incident));
  Incident closed = incidents_.remove(event.incident);
  closed.closed_at = meta.time;
  closed.close_reason = event.reason;
  closed_incidents_.push_back(std::move(closed));
}

void ClusterState::on(const AttemptsSkipped& event, const Event&) {
  Job& skipping = job(event.job);
  skipping.skipped_to = std::max(skipping.skipped_to, event.last);
}

}  // namespace hai
