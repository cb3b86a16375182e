#include "server/control/attempt/attempt_flow.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/hostlist.h"
#include "common/signal_name.h"
#include "server/control/attempt/array_flow.h"
#include "server/control/attempt/attribution.h"
#include "server/model/lemon_score.h"
#include "server/plan/carry_out.h"
#include "server/plan/cost.h"

namespace hai {
namespace {

// A shell's 128 and more: the program was ended by a signal.
std::string describe_exit(int code) {
  constexpr int kSignalsMax = 64;
  if (code <= 128 || code > 128 + kSignalsMax) return std::to_string(code);
  return fmt::format("{} ({})", code, signal_name(code - 128));
}

constexpr int kMaxLaunchFailures = 3;

std::string node_name(const ClusterState& state, NodeId node) {
  const Node* found = state.find(node);
  return found == nullptr ? fmt::format("#{}", node.value) : found->facts.name;
}

// A program that fails on a broken machine is not to blame.
AttemptEnd unless_by_fault(const Decision& decision, const Job& job, size_t rank, AttemptEnd end) {
  if (job.spec->is_validation) return end;
  std::optional<NodeFault> fault = fault_behind(decision, *job.attempt, rank);
  if (!fault) return end;
  end.reason += "; " + fault->text;
  end.infrastructure = true;
  end.suspects = {fault->node};
  return end;
}

bool has_ended(const Decision& decision, const Job& job) {
  return decision.state().rank_counts(job.id).gone == job.attempt->ranks.size();
}

bool has_left(const Decision& decision, const Job& job) {
  return decision.state().rank_counts(job.id).left > 0;
}

// What one ended rank means for its attempt; nullopt if it means nothing yet (it ended well, others
// still run).
std::optional<AttemptEnd> verdict(const Decision& decision, const Job& job, size_t index) {
  const Attempt& attempt = *job.attempt;
  const Rank& rank = attempt.ranks[index];
  const SuspendOptions& suspend = job.spec->suspend;
  bool suspending = attempt.state == AttemptState::suspending;
  const auto where = [&] {
    return fmt::format("rank {} on {}", index, node_name(decision.state(), rank.place.node));
  };
  auto with = [&](AttemptState outcome, std::string reason, bool infrastructure = false) {
    return AttemptEnd{outcome, rank.exit_code, std::move(reason), infrastructure};
  };
  switch (rank.cause) {
    case ExitCause::none:
      return std::nullopt;
    case ExitCause::go_suspend:
      return with(AttemptState::suspended,
                  suspending ? attempt.suspend_reason : where() + " called go_suspend",
                  !suspending);
    case ExitCause::left:
      // Each rank saves for itself: one that is done must not cost the others their grace.
      if (suspending && !has_ended(decision, job)) return std::nullopt;
      return with(AttemptState::suspended,
                  suspending ? attempt.suspend_reason : where() + " left after SIGTERM");
    case ExitCause::grace_over:
      return with(AttemptState::suspended,
                  (suspending ? attempt.suspend_reason : where() + " was to leave") +
                      " (did not leave within its grace)");
    case ExitCause::launch_failed:
      return with(AttemptState::failed,
                  fmt::format("{} could not start: {}", where(), rank.message), true);
    case ExitCause::fenced:
      return with(AttemptState::lost, where() + " was cut off from the server", true);
    case ExitCause::lost:
      return with(
          AttemptState::lost,
          where() + " is lost: " + (rank.message.empty() ? "its node is down" : rank.message),
          true);
    case ExitCause::killed:
      if (suspending) return with(AttemptState::suspended, attempt.suspend_reason);
      return with(AttemptState::lost, where() + " was killed", true);
    case ExitCause::program:
      break;
  }
  if (rank.exit_code == suspend.exit_code) {
    return with(AttemptState::suspended,
                suspending ? attempt.suspend_reason
                           : fmt::format("{} left with exit code {}", where(), rank.exit_code),
                !suspending);
  }
  if (suspending && suspend.has_signal())
    return with(AttemptState::suspended, attempt.suspend_reason);
  // Where ranks are told by SIGTERM, others may break off because one has left, and their ends may
  // be heard of first. What it was shows when all are gone; until then each has its grace.
  const bool may_be_leaving =
      has_left(decision, job) || (rank.exit_code != 0 && job.is_told_by_signal());
  if (suspending && may_be_leaving) {
    if (!has_ended(decision, job)) return std::nullopt;
    if (has_left(decision, job)) return with(AttemptState::suspended, attempt.suspend_reason);
  }
  if (rank.exit_code != 0) {
    return unless_by_fault(
        decision, job, index,
        with(AttemptState::failed,
             fmt::format("{} exited with code {}{}", where(), describe_exit(rank.exit_code),
                         rank.message.empty() ? "" : ", " + rank.message)));
  }
  return std::nullopt;
}

std::vector<NodeId> nodes_to_avoid(const Attempt& attempt) {
  std::vector<NodeId> nodes;
  if (attempt.end) nodes = attempt.end->suspects;
  for (const Rank& rank : attempt.ranks) {
    if (rank.cause == ExitCause::launch_failed || rank.cause == ExitCause::lost)
      nodes.push_back(rank.place.node);
  }
  return nodes;
}

void finish(Decision& decision, JobId id, JobState state, int exit_code,
            const std::string& reason) {
  decision.emit(JobFinished{id, state, exit_code, reason});
}

std::string early_failures_text(const Decision& decision, const Job& job) {
  std::string text = fmt::format(
      "its own fault: it failed within {} on {} sets of nodes that have "
      "none in common",
      format_duration(decision.knobs().early_failure), job.early_failures.size());
  for (const EarlyFailure& failure : job.early_failures) {
    std::vector<std::string> names;
    for (NodeId node : failure.nodes) names.push_back(node_name(decision.state(), node));
    text += fmt::format("; {}: {}", format_hostlist(std::move(names)), failure.reason);
  }
  return text;
}

// The attempt did not succeed and was not asked to leave: the job runs again, or has failed for
// good.
void requeue_or_fail(Decision& decision, JobId id, const AttemptEnd& end, bool launch_failed) {
  const Job& job = *decision.state().find(id);
  const bool is_launch_hopeless = launch_failed && job.launch_failures + 1 >= kMaxLaunchFailures;
  if (job.early_failures.size() >= Job::kEarlyFailuresMax && !is_launch_hopeless) {
    finish(decision, id, JobState::failed, end.exit_code == 0 ? 1 : end.exit_code,
           early_failures_text(decision, job));
  } else if (end.infrastructure) {
    if (is_launch_hopeless) {
      finish(decision, id, JobState::failed, 1,
             fmt::format("{} (could not start {} times)", end.reason, kMaxLaunchFailures));
    } else if (job.vain_requeues >= decision.knobs().max_requeues) {
      finish(decision, id, JobState::failed, end.exit_code == 0 ? 1 : end.exit_code,
             fmt::format("{} (requeued {} times already and got nowhere)", end.reason,
                         job.vain_requeues));
    } else {
      decision.emit(JobRequeued{id, true, launch_failed, end.reason});
    }
  } else if (const RestartOptions& restart = job.spec->restart;
             restart.on_failure && job.failure_restarts < restart.max) {
    decision.emit(JobRequeued{id, false, false, end.reason});
  } else {
    finish(decision, id, JobState::failed, end.exit_code, end.reason);
  }
}

// When a node dies, the ranks elsewhere fail on their broken connections long before the silence is
// noticed. An attempt ends only when every rank is accounted for, so by now it is known whether one
// was lost: then that was the reason.
AttemptEnd blame(const Decision& decision, const Job& job) {
  const ClusterState& state = decision.state();
  const Attempt& attempt = *job.attempt;
  if (attempt.end->outcome != AttemptState::failed || attempt.end->infrastructure)
    return *attempt.end;
  for (size_t index = 0; index < attempt.ranks.size(); ++index) {
    const Rank& rank = attempt.ranks[index];
    if (rank.cause != ExitCause::lost && rank.cause != ExitCause::fenced) continue;
    return {AttemptState::lost, attempt.end->exit_code,
            fmt::format(
                "rank {} on {} is lost ({}); then {}", index, node_name(state, rank.place.node),
                rank.message.empty() ? to_string(rank.cause) : rank.message, attempt.end->reason),
            true};
  }
  return unless_by_fault(decision, job, 0, *attempt.end);
}

bool has_ended_by(const Attempt& attempt, ExitCause cause) {
  return std::ranges::any_of(attempt.ranks,
                             [cause](const Rank& rank) { return rank.cause == cause; });
}

// Fell silent with many others and is not back, which says something of the network.
bool is_in_mass_loss(const ClusterState& state, NodeId node) {
  const Incident* loss = state.open_incident(kMassLoss);
  return loss != nullptr && std::ranges::find(loss->nodes, node) != loss->nodes.end();
}

bool was_lost_with_many(const ClusterState& state, const Attempt& attempt) {
  return std::ranges::any_of(attempt.ranks, [&](const Rank& rank) {
    return rank.cause == ExitCause::lost && is_in_mass_loss(state, rank.place.node);
  });
}

// Ends that say nothing of the job are those that the cluster made: orders, leases.
bool failed_early(const Decision& decision, const Job& job, const AttemptEnd& end) {
  const Attempt& attempt = *job.attempt;
  if (end.outcome != AttemptState::failed && end.outcome != AttemptState::lost) return false;
  if (has_ended_by(attempt, ExitCause::fenced) || job.stop_requested) return false;
  if (end.outcome == AttemptState::lost && was_lost_with_many(decision.state(), attempt))
    return false;
  return !attempt.running_at ||
         decision.now() - *attempt.running_at < decision.knobs().early_failure;
}

bool ran_long(const Decision& decision, const Attempt& attempt) {
  return attempt.running_at &&
         decision.now() - *attempt.running_at >= decision.knobs().early_failure;
}

// What ran on a node that loses power ends together: that is one outage, and not so many.
constexpr Duration kOneOutage = 10min;

bool is_marked_as_lost(const Decision& decision, const Node& node) {
  return std::ranges::any_of(node.health.marks, [&](const NodeMark& mark) {
    return mark.about == to_string(ExitCause::lost) && decision.now() - mark.at < kOneOutage;
  });
}

// Nodes that cost a job an attempt; faults and hangs have left their own marks. A launch that
// failed says something of the job: where the node itself is at fault, as with a full disk, its
// agent says that the rank is lost.
void mark_nodes(Decision& decision, const Job& job) {
  const bool is_gang = job.attempt->ranks.size() > 1;
  for (const Rank& rank : job.attempt->ranks) {
    if (rank.cause != ExitCause::lost) continue;
    const NodeId node = rank.place.node;
    if (is_in_mass_loss(decision.state(), node)) continue;
    if (is_marked_as_lost(decision, *decision.state().find(node))) continue;
    mark_by_job(decision, node, is_gang ? MarkKind::gang_failed : MarkKind::job_failed,
                to_string(ExitCause::lost), job);
  }
}

// It is made anew when it is due, and never waits.
void finish_validation(Decision& decision, JobId id, const AttemptEnd& end) {
  const bool was_cut_short =
      end.outcome != AttemptState::succeeded && end.outcome != AttemptState::failed;
  finish(decision, id,
         was_cut_short                            ? JobState::stopped
         : end.outcome == AttemptState::succeeded ? JobState::succeeded
                                                  : JobState::failed,
         end.outcome == AttemptState::failed && end.exit_code == 0 ? 1 : end.exit_code, end.reason);
}

void close_attempt(Decision& decision, JobId id) {
  const Job& job = *decision.state().find(id);
  const AttemptEnd end = blame(decision, job);
  bool redo = end.outcome == AttemptState::suspended || end.outcome == AttemptState::lost;
  bool launch_failed = std::ranges::any_of(
      job.attempt->ranks, [](const Rank& rank) { return rank.cause == ExitCause::launch_failed; });
  const AttemptUsage usage = attempt_usage(decision, job);
  decision.emit(AttemptEnded{id, job.attempt->number, end.outcome, end.reason,
                             redo ? lost_gpu_seconds(job, decision.now()) : 0,
                             nodes_to_avoid(*job.attempt), usage.had, usage.of_user,
                             failed_early(decision, job, end), ran_long(decision, *job.attempt)});
  if (job.spec->is_validation) return finish_validation(decision, id, end);
  mark_nodes(decision, job);
  if (job.stop_requested) {
    finish(decision, id, JobState::stopped, end.exit_code, end.reason);
    return;
  }
  switch (end.outcome) {
    case AttemptState::succeeded:
      finish(decision, id, JobState::succeeded, 0, "all ranks exited with code 0");
      return;
    case AttemptState::stopped:
      finish(decision, id, JobState::stopped, end.exit_code, end.reason);
      return;
    case AttemptState::suspended:
      if (end.infrastructure)
        requeue_or_fail(decision, id, end, false);  // It left unasked: bounded.
      break;
    default:
      requeue_or_fail(decision, id, end, launch_failed);
      break;
  }
  // Its array's limit may have been lowered while it ran.
  const Job& after = *decision.state().find(id);
  if (after.array_task && after.is_waiting()) {
    advance_array(decision, after.array_task->array, 0);
  }
}

// A rank that could not start has not run: counting it would forget the launch failures, and a job
// that can't start anywhere would go round for ever.
bool has_run(const Rank& rank) {
  return rank.state == RankState::running || rank.cause == ExitCause::program ||
         rank.cause == ExitCause::go_suspend || rank.cause == ExitCause::left;
}

// That the job runs here shows that a launch that failed elsewhere was not its own fault. Of a gang
// nobody knows which of its nodes it was.
void mark_where_it_could_not(Decision& decision, const Job& job) {
  if (job.launch_failures == 0) return;
  std::vector<NodeId> nodes;
  for (const EarlyFailure& failure : job.early_failures) {
    const bool is_of_node = failure.could_not_start && failure.nodes.size() == 1 &&
                            std::ranges::find(job.avoid, failure.nodes.front()) != job.avoid.end();
    if (is_of_node) nodes.push_back(failure.nodes.front());
  }
  for (const Rank& rank : job.attempt->ranks) std::erase(nodes, rank.place.node);
  for (NodeId node : nodes) {
    const Node* there = decision.state().find(node);
    if (there == nullptr || there->removed_at) continue;
    mark_by_job(decision, node, MarkKind::launch_failed, to_string(ExitCause::launch_failed), job);
  }
}

void settle_start(Decision& decision, JobId id) {
  const Attempt& attempt = *decision.state().find(id)->attempt;
  if (attempt.end || attempt.running_at || decision.state().rank_counts(id).pending > 0) return;
  if (!std::ranges::all_of(attempt.ranks, has_run)) return;
  mark_where_it_could_not(decision, *decision.state().find(id));
  decision.emit(AttemptRunning{id, attempt.number});
}

}  // namespace

void end_attempt(Decision& decision, JobId id, AttemptEnd end) {
  const Job& job = *decision.state().find(id);
  CHECK(job.has_live_attempt());
  if (!job.attempt->end) decision.emit(AttemptEnding{id, job.attempt->number, std::move(end)});
  if (has_ended(decision, job)) close_attempt(decision, id);
}

void settle_attempt(Decision& decision, JobId id) {
  const Job& job = *decision.state().find(id);
  if (!job.has_live_attempt()) return;
  settle_start(decision, id);
  const Attempt& attempt = *job.attempt;
  if (attempt.end) {
    end_attempt(decision, id, *attempt.end);
    return;
  }
  const RankCounts counts = decision.state().rank_counts(id);
  // What has ended well means nothing before the last rank has, unless the attempt is to leave.
  const bool is_to_leave = attempt.state == AttemptState::suspending;
  const bool says_nothing = counts.gone == 0 || (counts.gone == counts.well && !is_to_leave);
  if (says_nothing && counts.gone < attempt.ranks.size()) return;
  for (size_t rank = 0; rank < attempt.ranks.size(); ++rank) {
    if (!is_gone(attempt.ranks[rank].state)) continue;
    if (auto end = verdict(decision, job, rank)) {
      end_attempt(decision, id, std::move(*end));
      return;
    }
  }
  if (counts.gone == attempt.ranks.size())
    end_attempt(decision, id, {AttemptState::succeeded, 0, "all ranks exited with code 0", false});
}

}  // namespace hai
