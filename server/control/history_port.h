#pragma once
// Questions about the past: finished jobs, attempts and the event log, which the controller does
// not keep. Read-only and beside the controller: answers may be a moment behind what it knows.
// Calls and callbacks happen on the loop's thread; callbacks never come from inside the call.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "server/control/audit_port.h"
#include "server/model/event.h"
#include "server/model/job.h"

namespace hai {

inline constexpr int kHistoryPageMax = 1'000;

// Empty members do not filter. Newest first.
struct JobQuery {
  std::vector<JobState> states;
  std::string user;
  std::string group;
  std::string name;
  std::string tag;
  std::optional<UnixTime> ended_since;  // only unfinished ones and those that ended then or later
  JobId before;     // only older ones: the last id of the page before; none = from the newest
  JobId down_to;    // none older than this one, itself included; none = to the oldest
  int limit = 100;  // 1 .. kHistoryPageMax
};

// By id, or by user and name, which gives the newest of that name. With `task` too: that one if
// there is such a task, else by name.
struct JobKey {
  JobId job;
  std::string user;
  std::string name;
  std::optional<ArrayTask> task = {};
};

// after_seq: oldest first from there on; before_seq: newest first below it; neither: the newest.
struct EventQuery {
  std::optional<int64_t> after_seq;
  std::optional<int64_t> before_seq;
  JobId job;
  NodeId node;
  std::vector<std::string> kinds;  // words of kind_of(); empty = any
  int limit = 100;                 // 1 .. kHistoryPageMax
};

// Those that are over, newest first.
struct IncidentQuery {
  IncidentId before;  // only older ones; none = from the newest
  int limit = 100;    // 1 .. kHistoryPageMax
};

// An attempt that was, or is, on a node.
struct NodeStay {
  JobId job;
  std::string name;
  std::string user;
  int attempt = 0;
  int rank = 0;
  AttemptState state = AttemptState::placed;
  UnixTime placed_at{};
  std::optional<UnixTime> ended_at;
  std::string end_reason;
  bool operator==(const NodeStay&) const = default;
};

class History {
 public:
  virtual ~History() = default;

  // `invalid_argument` for a limit out of range, `unavailable` without the database,
  // `resource_exhausted` when too many questions wait.
  virtual void jobs(JobQuery query, std::function<void(Result<std::vector<Job>>)> done) = 0;
  // `not_found` if there is none.
  virtual void job(JobKey key, std::function<void(Result<Job>)> done) = 0;
  // All attempts of a job, oldest first; empty for a job that never started or does not exist.
  virtual void attempts(JobId job, std::function<void(Result<std::vector<Attempt>>)> done) = 0;
  virtual void events(EventQuery query, std::function<void(Result<std::vector<Event>>)> done) = 0;
  virtual void incidents(IncidentQuery query,
                         std::function<void(Result<std::vector<Incident>>)> done) = 0;
  // Of the jobs with the highest ids, latest start first.
  virtual void stays(NodeId node, int limit,
                     std::function<void(Result<std::vector<NodeStay>>)> done) = 0;
  virtual void audit(AuditQuery query, std::function<void(Result<std::vector<AuditRow>>)> done) = 0;
};

}  // namespace hai
