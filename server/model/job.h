#pragma once
// A job, its latest attempt and that attempt's ranks. Plain values; ClusterState::apply alone
// changes them. A job waits when it is not terminal and has no live attempt.

#include <algorithm>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "common/agent_messages.h"
#include "common/array_range.h"
#include "common/dependency.h"
#include "common/gpu_set.h"
#include "common/id.h"
#include "common/index_spans.h"
#include "common/job_spec.h"
#include "common/time.h"
#include "server/model/states.h"

namespace hai {

struct RankPlacement {
  NodeId node;
  GpuSet gpus;
  bool operator==(const RankPlacement&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("node", self.node);
    visit("gpus", self.gpus);
  }
};
using Placement = std::vector<RankPlacement>;  // index = rank; in network order

struct Rank {
  RankPlacement place;
  RankState state = RankState::pending;
  ExitCause cause = ExitCause::none;
  int exit_code = 0;
  std::string message;
  bool operator==(const Rank&) const = default;

  bool holds_place() const { return state != RankState::released; }

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("place", self.place);
    visit("state", self.state);
    visit("cause", self.cause);
    visit("exit_code", self.exit_code);
    visit("message", self.message);
  }
};

// How an attempt is about to end, decided when the first rank gives the reason; it has ended when
// all ranks are gone.
struct AttemptEnd {
  AttemptState outcome = AttemptState::failed;
  int exit_code = 0;
  std::string reason;
  bool infrastructure = false;   // not the job's fault: it runs again
  std::vector<NodeId> suspects;  // whose fault it seems to be: the next attempt avoids them
  bool take_evidence = false;    // its ranks are looked at before they are killed
  bool operator==(const AttemptEnd&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("outcome", self.outcome);
    visit("exit_code", self.exit_code);
    visit("reason", self.reason);
    visit("infrastructure", self.infrastructure);
    visit("suspects", self.suspects);
    visit("take_evidence", self.take_evidence);
  }
};

struct Attempt {
  int number = 0;
  AttemptState state = AttemptState::placed;
  Priority priority = Priority::low;  // the level it was placed at; never automatic
  int master_port = 0;
  bool exclusive = true;
  bool jumper = false;  // a job before it in the order waited when it started: see plan/order.h
  std::vector<Rank> ranks;
  UnixTime placed_at{};
  std::optional<UnixTime> running_at;
  std::optional<UnixTime> ended_at;
  std::optional<UnixTime> suspend_deadline;
  JobId suspended_for;  // whose reservation it makes room for; none for users and drains
  std::string suspend_reason;
  std::optional<AttemptEnd> end;
  bool operator==(const Attempt&) const = default;

  bool is_live() const { return !is_terminal(state); }
  // The ranks that have not given their places back: of a live attempt at least one.
  auto holding_ranks() const { return std::views::filter(ranks, &Rank::holds_place); }
  int64_t ran_seconds()
      const;  // whole ones, from when all ranks ran to its end; 0 while it is live

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("number", self.number);
    visit("state", self.state);
    visit("priority", self.priority);
    visit("master_port", self.master_port);
    visit("exclusive", self.exclusive);
    visit("jumper", self.jumper);
    visit("ranks", self.ranks);
    visit("placed_at", self.placed_at);
    visit("running_at", self.running_at);
    visit("ended_at", self.ended_at);
    visit("suspend_deadline", self.suspend_deadline);
    visit("suspended_for", self.suspended_for);
    visit("suspend_reason", self.suspend_reason);
    visit("end", self.end);
  }
};

// Nodes held for a job while victims leave them: the first of the two phases of a preemption
// (docs/contract.md, Scheduling).
struct Reservation {
  Placement placement;
  Priority priority = Priority::low;
  std::vector<JobId> victims;
  UnixTime since{};
  bool is_move = false;  // the victims find room elsewhere: defragmentation, not preemption
  bool operator==(const Reservation&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("placement", self.placement);
    visit("priority", self.priority);
    visit("victims", self.victims);
    visit("since", self.since);
    visit("is_move", self.is_move);
  }
};

// The nodes of an attempt that failed soon after it had begun.
struct EarlyFailure {
  std::vector<NodeId> nodes;
  std::string reason;
  bool could_not_start = false;
  bool operator==(const EarlyFailure&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("nodes", self.nodes);
    visit("reason", self.reason);
    visit("could_not_start", self.could_not_start);
  }
};

// What a job waits for. A finished job that it names may have left memory: then it did not end as
// asked, or this would have been met.
struct Dependency {
  JobId job;
  DependencyCondition condition = DependencyCondition::afterok;
  bool operator==(const Dependency&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("job", self.job);
    visit("condition", self.condition);
  }
};

// Of a job that is a task of an array: which one of which.
struct ArrayTask {
  JobId array;
  int index = 0;
  auto operator<=>(const ArrayTask&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("array", self.array);
    visit("index", self.index);
  }
};

// "17_3" is task 3 of array 17; nothing else is one.
std::optional<ArrayTask> parse_array_task(std::string_view text);

// Which tasks of an array are not as most are: by their indices.
struct ArrayGaps {
  IndexSpans without_success;  // they failed or were stopped
  // Where tasks wait for those of another array (aftercorr), which has ended: theirs did not
  // succeed.
  IndexSpans in_vain;
  IndexSpans made_early;  // somebody named them before it was their turn
  bool operator==(const ArrayGaps&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("without_success", self.without_success);
    visit("in_vain", self.in_vain);
    visit("made_early", self.made_early);
  }
};

// How far an array is. Its tasks are made in the order of their indices, each as a job with the
// array's spec; one that somebody names is made at once.
struct ArrayCounts {
  int made = 0;  // in all
  int unfinished = 0;
  int succeeded = 0;
  int failed = 0;
  int stopped = 0;
  std::optional<ArrayGaps> gaps;
  bool operator==(const ArrayCounts&) const = default;

  ArrayGaps& noted_gaps() { return gaps ? *gaps : gaps.emplace(); }
  bool is_made_early(int index) const { return gaps && contains(gaps->made_early, index); }
  // The position of the first task that is not made; the number of all tasks if each is.
  int next() const { return gaps ? made - static_cast<int>(count_of(gaps->made_early)) : made; }
  // Whether the task of this index, which is one of the range's, is or was a job.
  bool is_made(const ArrayRange& range, int index) const {
    return next() == range.count() || index < range.at(next()) || is_made_early(index);
  }
  // After the task of this index, which was not made before.
  void note_made(const ArrayRange& range, int index);

  int& of(JobState state) {
    return state == JobState::succeeded ? succeeded : state == JobState::failed ? failed : stopped;
  }
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("made", self.made);
    visit("unfinished", self.unfinished);
    visit("succeeded", self.succeeded);
    visit("failed", self.failed);
    visit("stopped", self.stopped);
    visit("gaps", self.gaps);
  }
};

// What has become of a job so far, shown as it is.
struct JobCounters {
  int suspend_count = 0;
  int requeue_count = 0;
  int64_t lost_gpu_seconds = 0;   // work that was done and had to be done again
  int64_t run_seconds = 0;        // that its ended attempts ran, with all their ranks at once
  Duration cpu_time{0};           // that the processes of its ended ranks used
  int64_t peak_memory_bytes = 0;  // resident, of the one of them that had most at once
  // A sum ends here, whatever agents say; each rank's is at most a hundredth of it.
  static constexpr Duration kCpuTimeMax = 30'000 * 24h * 365;
  bool operator==(const JobCounters&) const = default;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("suspend_count", self.suspend_count);
    visit("requeue_count", self.requeue_count);
    visit("lost_gpu_seconds", self.lost_gpu_seconds);
    visit("run_seconds", self.run_seconds);
    visit("cpu_time", self.cpu_time);
    visit("peak_memory_bytes", self.peak_memory_bytes);
  }
};

struct Job {
  JobId id;
  std::string user;
  std::string request_id;  // the submitter's idempotency key, "" if none
  std::shared_ptr<const JobSpec> spec;
  Priority priority = Priority::automatic;  // as asked; may change after submit
  JobState state = JobState::queued;
  bool held = false;
  std::string hold_reason;
  bool stop_requested = false;
  UnixTime submitted_at{};
  UnixTime waiting_since{};  // when its present wait began; of a job that runs, its last one
  int64_t custom_rank = 0;   // its place among its user's jobs; the id until its user moves it
  std::optional<UnixTime> started_at;  // first time running
  std::optional<UnixTime> ended_at;
  std::vector<Dependency> unmet_dependencies;
  JobId failed_dependency;         // one of them that can't be met any more; it stays among them
  std::optional<Attempt> attempt;  // the latest one, live or ended
  std::optional<Reservation> reservation;
  std::optional<CheckpointInfo> checkpoint;
  Duration checkpoint_gap{0};  // between its last two checkpoints; 0 = not known
  std::string whole_life_state;
  std::vector<NodeId> avoid;  // nodes where its attempts failed, newest last, bounded
  int exit_code = 0;
  std::string end_reason;
  JobCounters counters;
  int vain_requeues = 0;    // of its requeues, since an attempt got anywhere
  int launch_failures = 0;  // in a row
  int failure_restarts = 0;
  int64_t gpu_seconds = 0;              // GPU time of its ended attempts
  bool uses_sdk = false;                // of its own accord it looks at the suspend request
  JobId rerun_of;                       // the job that it is again; 0 = none
  std::optional<ArrayTask> array_task;  // if it is one
  ArrayCounts array;                    // if is_array()
  int skipped_to = 0;  // attempts up to here were given once and are forgotten (design/0006)

  // Its attempts that failed early, on nodes none of which is in two of them; emptied by one that
  // ran longer.
  std::vector<EarlyFailure> early_failures;

  // Why a task is held of which the array's limit ("%20") leaves no room to run. It is released as
  // soon as there is room.
  static constexpr std::string_view kOverLimit = "over the limit of its array";
  bool is_held_by_limit() const { return held && hold_reason == kOverLimit; }

  static constexpr size_t kAvoidMax = 32;
  static constexpr size_t kEarlyFailuresMax = 3;

  // Whether SIGTERM asks its programs to save and leave. One rank of a gang may look at the request
  // for all of them, so that its word counts for all (docs/design/0009).
  bool is_told_by_signal() const {
    return !uses_sdk && spec->suspend.signal.empty() && !spec->is_validation;
  }
  // It runs by its tasks alone.
  bool is_array() const { return !spec->array.empty(); }
  bool is_terminal() const { return hai::is_terminal(state); }
  bool has_live_attempt() const { return attempt && attempt->is_live(); }
  bool is_waiting() const { return !is_terminal() && !has_live_attempt(); }
  int attempt_number() const { return attempt ? attempt->number : 0; }
  int next_attempt() const { return std::max(attempt_number(), skipped_to) + 1; }
  // Nothing runs before it: a program that failed again and again is not started at once again.
  std::optional<UnixTime> restarts_at() const;
  // Equal in all that is stored; specs are compared by value.
  bool operator==(const Job& other) const;
};

}  // namespace hai
