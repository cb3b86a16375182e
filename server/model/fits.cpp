#include "server/model/fits.h"

#include <algorithm>

namespace hai {
namespace {

template <typename... Args>
Status misfit(fmt::format_string<Args...> format, Args&&... args) {
  return Status(Code::data_loss, fmt::format(format, std::forward<Args>(args)...));
}

// What a body needs of its job beyond that it exists. Bodies of the same needs share a concept.
template <typename Body>
constexpr bool kNeedsLiveAttempt =
    std::is_same_v<Body, AttemptStarting> || std::is_same_v<Body, RankRunning> ||
    std::is_same_v<Body, RankEnded> || std::is_same_v<Body, AttemptRunning> ||
    std::is_same_v<Body, AttemptSuspending> || std::is_same_v<Body, AttemptContinued> ||
    std::is_same_v<Body, AttemptEnding> || std::is_same_v<Body, AttemptEnded>;

Status job_may_become(const Job& job, JobState next) {
  if (may_follow(job.state, next)) return ok();
  return misfit("job {} is {} and can't become {}", job.id.value, to_string(job.state),
                to_string(next));
}

Status attempt_may_become(const Job& job, AttemptState next) {
  if (may_follow(job.attempt->state, next)) return ok();
  return misfit("attempt {} of job {} is {} and can't become {}", job.attempt->number, job.id.value,
                to_string(job.attempt->state), to_string(next));
}

Status placement_fits(const ClusterState& state, const Placement& placement, JobId free_for) {
  for (const RankPlacement& place : placement) {
    const Node* node = state.find(place.node);
    if (node == nullptr) return misfit("node {} does not exist", place.node.value);
    if (free_for && !without(place.gpus, node->free_gpus(free_for)).is_empty()) {
      return misfit("GPUs {} of node {} are not free", to_string(place.gpus), place.node.value);
    }
  }
  return ok();
}

struct Fitting {
  const ClusterState& state;

  // Everything without needs of its own.
  template <typename Body>
  Status needs(const Body&, const Job*) const {
    return ok();
  }
  Status needs(const EpochStarted& body, const Job*) const {
    if (body.epoch > state.epoch()) return ok();
    return misfit("epoch {} follows epoch {}", body.epoch.value, state.epoch().value);
  }
  Status needs(const UserRemoved& body, const Job*) const {
    if (state.find_user(body.user) == nullptr) return misfit("there is no user {}", body.user);
    if (state.unfinished_count(body.user) == 0) return ok();
    return misfit("user {} has unfinished jobs", body.user);
  }
  Status needs(const NodeRemoved& body, const Job*) const {
    const Node* node = state.find(body.node);
    if (node == nullptr) return misfit("node {} does not exist", body.node.value);
    if (node->removed_at) return misfit("node {} was removed already", body.node.value);
    if (node->occupants.empty() && node->held.empty()) return ok();
    return misfit("node {} has jobs", body.node.value);
  }
  Status needs(const NodeSet& body, const Job*) const {
    const Node* node = state.find(body.node);
    if (node != nullptr && !node->removed_at) return ok();
    return misfit("node {} is not in the cluster", body.node.value);
  }
  Status needs(const KnobUnset& body, const Job*) const {
    if (state.knobs().contains(body.name)) return ok();
    return misfit("knob {} is not set", body.name);
  }
  Status needs(const JobSubmitted& body, const Job*) const {
    if (body.spec == nullptr) return misfit("job {} has no spec", body.job.value);
    if (body.array_task) {
      RETURN_IF_ERROR(array_goes_on(*body.array_task, body.job));
      const Job& array = *state.find(body.array_task->array);
      const ArrayRange& range = state.unfinished_arrays().at(array.id);
      const int index = body.array_task->index;
      if (!range.contains(index) || array.array.is_made(range, index)) {
        return misfit("job {}: array {} has no task {} that is not made", body.job.value,
                      array.id.value, index);
      }
    }
    if (body.job.value == state.last_job().value + 1) return ok();
    return misfit("job {} follows job {}", body.job.value, state.last_job().value);
  }
  Status needs(const JobEdited& body, const Job* job) const {
    if (body.array_limit && (!job->is_array() || job->is_terminal())) {
      return misfit("job {} is no unfinished array", body.job.value);
    }
    if (!(body.node_count || body.begin_at) || job->is_waiting()) return ok();
    return misfit("job {} does not wait", body.job.value);
  }
  Status needs(const JobFinished& body, const Job* job) const {
    if (job->has_live_attempt()) return misfit("job {} still runs", body.job.value);
    if (job->reservation) return misfit("job {} still holds nodes", body.job.value);
    return job_may_become(*job, body.state);
  }
  Status needs(const JobRequeued& body, const Job* job) const {
    return job->is_waiting() ? ok() : misfit("job {} does not wait", body.job.value);
  }
  Status needs(const NodesReserved& body, const Job* job) const {
    if (!job->is_waiting()) return misfit("job {} does not wait", body.job.value);
    if (job->reservation) return misfit("job {} holds nodes already", body.job.value);
    return placement_fits(state, body.reservation.placement, {});
  }
  Status needs(const ReservationDropped& body, const Job* job) const {
    return job->reservation ? ok() : misfit("job {} holds no nodes", body.job.value);
  }
  Status needs(const AttemptPlaced& body, const Job* job) const {
    if (!job->is_waiting()) return misfit("job {} does not wait", body.job.value);
    if (body.attempt != job->next_attempt()) {
      return misfit("attempt {} of job {} follows attempt {}", body.attempt, body.job.value,
                    job->attempt_number());
    }
    return placement_fits(state, body.placement, body.job);
  }
  Status needs(const AttemptStarting&, const Job* job) const {
    return attempt_may_become(*job, AttemptState::starting);
  }
  Status needs(const AttemptSuspending&, const Job* job) const {
    return attempt_may_become(*job, AttemptState::suspending);
  }
  Status needs(const AttemptContinued& body, const Job* job) const {
    if (job->attempt->state == AttemptState::suspending) return ok();
    return misfit("attempt {} of job {} was not asked to leave", body.attempt, body.job.value);
  }
  Status needs(const AttemptRunning&, const Job* job) const {
    if (job->attempt->state != AttemptState::suspending) {
      RETURN_IF_ERROR(attempt_may_become(*job, AttemptState::running));
    }
    return job->state == JobState::running ? ok() : job_may_become(*job, JobState::running);
  }
  Status needs(const RankRunning& body, const Job* job) const {
    RETURN_IF_ERROR(rank_exists(body.rank, *job));
    const RankState rank = job->attempt->ranks[static_cast<size_t>(body.rank)].state;
    if (rank == RankState::pending) return ok();
    return misfit("rank {} of job {} is {} already", body.rank, body.job.value, to_string(rank));
  }
  Status needs(const RankEnded& body, const Job* job) const {
    RETURN_IF_ERROR(rank_exists(body.rank, *job));
    const RankState rank = job->attempt->ranks[static_cast<size_t>(body.rank)].state;
    const bool is_last = std::ranges::count_if(job->attempt->ranks, &Rank::holds_place) == 1;
    const bool leaves_none = body.state == RankState::released && is_last;
    if (!is_gone(rank) && is_gone(body.state) && !leaves_none) return ok();
    return misfit("rank {} of job {} is {} and can't become {}", body.rank, body.job.value,
                  to_string(rank), to_string(body.state));
  }
  Status needs(const AttemptEnding& body, const Job*) const {
    if (is_terminal(body.end.outcome)) return ok();
    return misfit("attempt {} of job {} can't end as {}", body.attempt, body.job.value,
                  to_string(body.end.outcome));
  }
  Status needs(const AttemptEnded& body, const Job* job) const {
    if (!std::ranges::all_of(job->attempt->ranks, &is_gone, &Rank::state)) {
      return misfit("ranks of attempt {} of job {} are still there", body.attempt, body.job.value);
    }
    return attempt_may_become(*job, body.outcome);
  }
  Status needs(const NodeRegistered& body, const Job*) const {
    const Node* known = state.find(body.node);
    if (known != nullptr && known->removed_at) {
      return misfit("node {} was removed", body.node.value);
    }
    const Node* named = state.find_node(body.facts.name);
    if (named == nullptr || named->id == body.node) return ok();
    return misfit("node {} is called {} already", named->id.value, body.facts.name);
  }
  Status needs(const NodePeersNamed& body, const Job*) const {
    const NodePeers& peers = state.find(body.node)->peers;
    if (peers.may_be_followed_by(body.version)) return ok();
    return misfit("peers {} of node {} follow peers {}", body.version, body.node.value,
                  peers.version);
  }
  Status needs(const NodePeersConfirmed& body, const Job*) const {
    if (state.find(body.node)->peers.named) return ok();
    return misfit("node {} was named no peers", body.node.value);
  }
  Status needs(const IncidentOpened& body, const Job*) const {
    if (body.incident.value == state.last_incident().value + 1) return ok();
    return misfit("incident {} follows incident {}", body.incident.value,
                  state.last_incident().value);
  }

  Status needs(const JobReopened& body, const Job* job) const {
    if (job->state != JobState::failed) return misfit("job {} has not failed", body.job.value);
    if (state.find_user(job->user) == nullptr) return misfit("there is no user {}", job->user);
    // A task shares its array's name.
    if (job->array_task) return array_goes_on(*job->array_task, job->id);
    const Job* namesake = state.find_unfinished(job->user, job->spec->name);
    if (namesake == nullptr) return ok();
    return misfit("job {} has the name of job {} now", namesake->id.value, body.job.value);
  }
  Status needs(const NodeCheckHandled& body, const Job*) const {
    if (state.find(body.node)->health.find(body.name, body.subject) != nullptr) return ok();
    return misfit("node {} has no check {} that is not well", body.node.value, body.name);
  }

  Status needs(const NodeRepairChanged& body, const Job*) const {
    const RepairStep step = state.find(body.node)->health.repair.step;
    if (may_follow(step, body.repair.step)) return ok();
    return misfit("repair of node {} cannot go from {} to {}", body.node.value, to_string(step),
                  to_string(body.repair.step));
  }

  Status array_goes_on(const ArrayTask& task, JobId job) const {
    if (state.unfinished_arrays().contains(task.array)) return ok();
    return misfit("job {} is a task of no unfinished array", job.value);
  }
  static Status rank_exists(int rank, const Job& job) {
    if (rank >= 0 && rank < std::ssize(job.attempt->ranks)) return ok();
    return misfit("job {} has no rank {}", job.id.value, rank);
  }
};

template <typename Body>
Status body_fits(const ClusterState& state, const Body& body) {
  const Job* job = nullptr;
  if constexpr (requires { body.job; } && !std::is_same_v<Body, JobSubmitted>) {
    job = state.find(body.job);
    if (job == nullptr) return misfit("job {} does not exist", body.job.value);
  }
  if constexpr (kNeedsLiveAttempt<Body>) {
    if (!job->has_live_attempt() || job->attempt->number != body.attempt) {
      return misfit("attempt {} of job {} is not alive", body.attempt, body.job.value);
    }
  }
  if constexpr (requires { body.node; } && !std::is_same_v<Body, NodeRegistered>) {
    if (state.find(body.node) == nullptr) return misfit("node {} does not exist", body.node.value);
  }
  if constexpr (requires { body.incident; } && !std::is_same_v<Body, IncidentOpened>) {
    if (!state.incidents().contains(body.incident)) {
      return misfit("incident {} is not open", body.incident.value);
    }
  }
  return Fitting{state}.needs(body, job);
}

}  // namespace

Status fits(const ClusterState& state, const Event& event) {
  if (event.seq != state.last_seq() + 1) {
    return misfit("event {} follows event {}", event.seq, state.last_seq());
  }
  const Status status =
      std::visit([&](const auto& body) { return body_fits(state, body); }, event.body);
  if (status.is_ok()) return status;
  return misfit("event {} ({}) does not fit: {}", event.seq, kind_of(event.body), status.message());
}

}  // namespace hai
