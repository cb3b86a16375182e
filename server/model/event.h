#pragma once
// What happened. Events are the only way the state changes, and the log of them is the history one
// can replay. Each body lists its fields once; JSON, digests and replays all go through that list
// (server/model/fields.h).

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/agent_messages.h"
#include "server/model/incident.h"
#include "server/model/job.h"
#include "server/model/knob_setting.h"
#include "server/model/node.h"
#include "server/model/user.h"

namespace hai {

// What an event is to those who do not apply it.
enum EventTraits : unsigned {
  kRecord = 0,        // it is written down and shown
  kChangesPlan = 1,   // a planning pass may decide otherwise after it
  kOrdersAgents = 2,  // the nodes of its job are to do something else now
  kAboutPeople = 4,   // only operators see it
};

// In each event: its name in the log, which never changes; what it is to others; its fields.
#define HAI_EVENT(kind, traits, ...)              \
  static constexpr std::string_view kKind = kind; \
  static constexpr unsigned kTraits = traits;     \
  template <typename Self, typename Visit>        \
  static void fields(Self& self, Visit&& visit) { \
    (void)self, (void)visit;                      \
    __VA_ARGS__                                   \
  }
#define F(name) visit(#name, self.name);

// With the knobs that hold until the next one, by name, so that what is planned can be replayed.
struct EpochStarted {
  Epoch epoch;
  std::map<std::string, std::string> knobs;
  HAI_EVENT("epoch_started", kChangesPlan, F(epoch) F(knobs))
};

struct UserSet {
  User user;
  HAI_EVENT("user_set", kChangesPlan | kAboutPeople, F(user))
};
struct QuotaSet {
  Quota quota;
  HAI_EVENT("quota_set", kChangesPlan, F(quota))
};
struct QuotaRemoved {
  Quota quota;
  HAI_EVENT("quota_removed", kChangesPlan, F(quota))
};
struct TokenSet {
  Token token;
  HAI_EVENT("token_set", kAboutPeople, F(token))
};
struct TokenRevoked {
  std::string hash;
  HAI_EVENT("token_revoked", kAboutPeople, F(hash))
};

// When tokens were last used, by hash.
struct TokensUsed {
  std::map<std::string, UnixTime> used;
  HAI_EVENT("tokens_used", kAboutPeople, F(used))
};
struct SecretSet {
  Secret secret;
  HAI_EVENT("secret_set", kAboutPeople, F(secret))
};
struct SecretRemoved {
  std::string user;
  std::string name;
  HAI_EVENT("secret_removed", kAboutPeople, F(user) F(name))
};
struct NodeIdentitySet {
  NodeIdentity identity;
  std::string reason;  // of a revocation
  HAI_EVENT("node_identity_set", kAboutPeople, F(identity) F(reason))
};

struct JobSubmitted {
  JobId job;
  std::string user;
  std::string request_id;
  std::shared_ptr<const JobSpec> spec;
  std::vector<Dependency> dependencies;
  std::optional<JobId> rerun_of = {};  // what waited for that one in vain waits for this one
  std::optional<ArrayTask> array_task = {};
  HAI_EVENT("job_submitted", kChangesPlan,
            F(job) F(user) F(request_id) F(spec) F(dependencies) F(rerun_of) F(array_task))
};
struct JobHeld {
  JobId job;
  std::string reason;
  HAI_EVENT("job_held", kChangesPlan, F(job) F(reason))
};
struct JobReleased {
  JobId job;
  HAI_EVENT("job_released", kChangesPlan, F(job))
};
struct JobPriorityChanged {
  JobId job;
  Priority priority;
  HAI_EVENT("job_priority_changed", kChangesPlan, F(job) F(priority))
};
struct JobRankChanged {
  JobId job;
  int64_t custom_rank = 0;
  HAI_EVENT("job_rank_changed", kChangesPlan, F(job) F(custom_rank))
};
struct JobStopRequested {
  JobId job;
  std::string reason;
  HAI_EVENT("job_stop_requested", kChangesPlan, F(job) F(reason))
};
struct JobFinished {
  JobId job;
  JobState state = JobState::failed;
  int exit_code = 0;
  std::string reason;
  HAI_EVENT("job_finished", kChangesPlan, F(job) F(state) F(exit_code) F(reason))
};

struct NodesReserved {
  JobId job;
  Reservation reservation;
  HAI_EVENT("nodes_reserved", kChangesPlan, F(job) F(reservation))
};
struct ReservationDropped {
  JobId job;
  std::string reason;
  HAI_EVENT("reservation_dropped", kChangesPlan, F(job) F(reason))
};

struct AttemptPlaced {
  JobId job;
  int attempt = 0;
  Placement placement;
  Priority priority = Priority::low;
  int master_port = 0;
  bool exclusive = true;
  bool jumper = false;
  HAI_EVENT("attempt_placed", kChangesPlan | kOrdersAgents,
            F(job) F(attempt) F(placement) F(priority) F(master_port) F(exclusive) F(jumper))
};
struct AttemptStarting {
  JobId job;
  int attempt = 0;
  HAI_EVENT("attempt_starting", kRecord, F(job) F(attempt))
};
struct RankRunning {
  JobId job;
  int attempt = 0;
  int rank = 0;
  HAI_EVENT("rank_running", kRecord, F(job) F(attempt) F(rank))
};
// Of one that is `released` also what it had on its GPUs, as AttemptEnded says of the others.
struct RankEnded {
  JobId job;
  int attempt = 0;
  int rank = 0;
  RankState state = RankState::exited;
  ExitCause cause = ExitCause::program;
  int exit_code = 0;
  std::string message;
  std::optional<RankUsage> usage = {};
  int64_t gpu_seconds = 0;
  int64_t user_gpu_seconds = 0;
  HAI_EVENT("rank_ended", kChangesPlan,
            F(job) F(attempt) F(rank) F(state) F(cause) F(exit_code) F(message) F(usage)
                F(gpu_seconds) F(user_gpu_seconds))
};
struct AttemptRunning {
  JobId job;
  int attempt = 0;
  HAI_EVENT("attempt_running", kRecord, F(job) F(attempt))
};
struct AttemptSuspending {
  JobId job;
  int attempt = 0;
  UnixTime deadline{};
  JobId beneficiary;
  std::string reason;
  HAI_EVENT("attempt_suspending", kChangesPlan | kOrdersAgents,
            F(job) F(attempt) F(deadline) F(beneficiary) F(reason))
};
struct AttemptContinued {
  JobId job;
  int attempt = 0;
  std::string reason;
  HAI_EVENT("attempt_continued", kChangesPlan | kOrdersAgents, F(job) F(attempt) F(reason))
};
struct AttemptEnding {
  JobId job;
  int attempt = 0;
  AttemptEnd end;
  HAI_EVENT("attempt_ending", kOrdersAgents, F(job) F(attempt) F(end))
};
// All ranks are gone: the nodes are free. `lost_gpu_seconds` is work since the last checkpoint that
// must be redone, `gpu_seconds` what the attempt had, `user_gpu_seconds` the decayed sum of its
// user with it.
struct AttemptEnded {
  JobId job;
  int attempt = 0;
  AttemptState outcome = AttemptState::failed;
  std::string reason;
  int64_t lost_gpu_seconds = 0;
  std::vector<NodeId> avoid;  // nodes the next attempt should not use
  int64_t gpu_seconds = 0;
  int64_t user_gpu_seconds = 0;
  bool failed_early = false;  // says something of the job, if it happens on other nodes too
  bool ran_long = false;      // what failed early before says nothing any more
  HAI_EVENT("attempt_ended", kChangesPlan,
            F(job) F(attempt) F(outcome) F(reason) F(lost_gpu_seconds) F(avoid) F(gpu_seconds)
                F(user_gpu_seconds) F(failed_early) F(ran_long))
};
// The job goes back to the queue after an attempt that ended for a reason other than a suspension.
struct JobRequeued {
  JobId job;
  bool infrastructure = true;  // counts against max_requeues; else against restart.max
  bool launch_failed = false;
  std::string reason;
  HAI_EVENT("job_requeued", kChangesPlan, F(job) F(infrastructure) F(launch_failed) F(reason))
};
// Attempts up to `last` were given by a leader whose events the store has lost; none gets such a
// number again.
struct AttemptsSkipped {
  JobId job;
  int last = 0;
  HAI_EVENT("attempts_skipped", kChangesPlan, F(job) F(last))
};
struct CheckpointReported {
  JobId job;
  int attempt = 0;
  CheckpointInfo checkpoint;
  HAI_EVENT("checkpoint_reported", kRecord, F(job) F(attempt) F(checkpoint))
};
struct LifeStateSet {
  JobId job;
  int attempt = 0;
  std::string value;
  HAI_EVENT("life_state_set", kRecord, F(job) F(attempt) F(value))
};

struct NodeRegistered {
  NodeId node;
  NodeFacts facts;
  HAI_EVENT("node_registered", kChangesPlan, F(node) F(facts))
};
struct NodeLivenessChanged {
  NodeId node;
  Liveness liveness = Liveness::up;
  std::string reason;
  HAI_EVENT("node_liveness_changed", kChangesPlan, F(node) F(liveness) F(reason))
};
struct NodeSchedulingChanged {
  NodeId node;
  Scheduling scheduling = Scheduling::open;
  std::string reason;
  std::string by;
  std::optional<UnixTime> drain_at = {};  // of cordoned: then its jobs have to leave
  HAI_EVENT("node_scheduling_changed", kChangesPlan,
            F(node) F(scheduling) F(reason) F(by) F(drain_at))
};

// Durable before the node hears of it: whoever leads must know which lists it may go by.
struct NodePeersNamed {
  NodeId node;
  int64_t version = 0;
  std::vector<NodeId> peers;
  HAI_EVENT("node_peers_named", kRecord, F(node) F(version) F(peers))
};
// The node goes by the latest list, and by no other.
struct NodePeersConfirmed {
  NodeId node;
  HAI_EVENT("node_peers_confirmed", kRecord, F(node))
};

struct IncidentOpened {
  IncidentId incident;
  std::string kind;
  std::string subject;
  std::string summary;
  std::vector<NodeId> nodes;
  HAI_EVENT("incident_opened", kRecord, F(incident) F(kind) F(subject) F(summary) F(nodes))
};
struct IncidentChanged {
  IncidentId incident;
  std::string summary;
  std::vector<NodeId> nodes;
  HAI_EVENT("incident_changed", kRecord, F(incident) F(summary) F(nodes))
};
struct IncidentClosed {
  IncidentId incident;
  std::string reason;
  HAI_EVENT("incident_closed", kRecord, F(incident) F(reason))
};

// Something to know of an incident: what was seen, decided or done.
struct IncidentNoted {
  IncidentId incident;
  std::string text;
  HAI_EVENT("incident_noted", kRecord, F(incident) F(text))
};

// A check became so; `ok` and `unknown` end what was known of it.
struct NodeCheckChanged {
  NodeId node;
  CheckResult check;
  HAI_EVENT("node_check_changed", kRecord, F(node) F(check))
};
// What was done about a check that fails (NodeCheck::done).
struct NodeCheckHandled {
  NodeId node;
  std::string name;
  std::string subject;
  FaultAnswer done = FaultAnswer::none;
  HAI_EVENT("node_check_handled", kRecord, F(node) F(name) F(subject) F(done))
};
struct NodeMarked {
  NodeId node;
  MarkKind kind = MarkKind::accepted;
  std::string about;      // NodeMark::about
  JobId cause;            // NodeMark::job
  std::string user = {};  // NodeMark::user
  HAI_EVENT("node_marked", kRecord, F(node) F(kind) F(about) F(cause) F(user))
};
struct NodeRepairChanged {
  NodeId node;
  NodeRepair repair;
  HAI_EVENT("node_repair_changed", kRecord, F(node) F(repair))
};
struct NodeValidated {
  NodeId node;
  bool passed = false;
  std::string summary;
  std::vector<NodeMeasure> measured;
  bool is_light = false;  // a full one is due as before
  HAI_EVENT("node_validated", kRecord, F(node) F(passed) F(summary) F(measured) F(is_light))
};

// A failure that was taken for the program's own was not: its node's fault was seen later. The job
// goes back to the queue.
struct JobReopened {
  JobId job;
  std::vector<NodeId> avoid;
  std::string reason;
  HAI_EVENT("job_reopened", kChangesPlan, F(job) F(avoid) F(reason))
};

// Jobs keep the name.
struct UserRemoved {
  std::string user;
  HAI_EVENT("user_removed", kChangesPlan | kAboutPeople, F(user))
};
// No part of the cluster any more, until an agent registers under that name again.
struct NodeRemoved {
  NodeId node;
  std::string reason;
  HAI_EVENT("node_removed", kChangesPlan, F(node) F(reason))
};

struct KnobSet {
  KnobSetting setting;
  HAI_EVENT("knob_set", kChangesPlan, F(setting))
};
// The config's value holds again: that of the leader who decides.
struct KnobUnset {
  std::string name;
  std::string value;
  std::string reason;
  HAI_EVENT("knob_unset", kChangesPlan, F(name) F(value) F(reason))
};

// What may still change of a job; the rest stays as it was submitted.
struct JobEdited {
  JobId job;
  std::optional<Duration> timeout = {};
  std::optional<std::vector<std::string>> tags = {};
  std::optional<int> node_count = {};     // only of one that waits
  std::optional<UnixTime> begin_at = {};  // likewise; the epoch of Unix: at once
  std::optional<int> array_limit = {};    // only of an array: tasks unfinished at once; 0 = any
  HAI_EVENT("job_edited", kChangesPlan,
            F(job) F(timeout) F(tags) F(node_count) F(begin_at) F(array_limit))
};

// A rank of it has said or asked something at its socket, or nobody can know: its program looks at
// the suspend request itself, and is not told by a signal.
struct JobUsesSdk {
  JobId job;
  HAI_EVENT("job_uses_sdk", 0, F(job))
};

// All that an administrator has set of it from now on; what is not set is as its agent says.
struct NodeSet {
  NodeId node;
  NodeSettings settings;
  std::string reason;
  HAI_EVENT("node_set", kChangesPlan, F(node) F(settings) F(reason))
};

#undef F
#undef HAI_EVENT

using EventBody = std::variant<
    EpochStarted, UserSet, QuotaSet, QuotaRemoved, TokenSet, TokenRevoked, JobSubmitted, JobHeld,
    JobReleased, JobPriorityChanged, JobRankChanged, JobStopRequested, JobFinished, NodesReserved,
    ReservationDropped, AttemptPlaced, AttemptStarting, RankRunning, RankEnded, AttemptRunning,
    AttemptSuspending, AttemptContinued, AttemptEnding, AttemptEnded, JobRequeued,
    CheckpointReported, LifeStateSet, NodeRegistered, NodeLivenessChanged, NodeSchedulingChanged,
    NodePeersNamed, NodePeersConfirmed, IncidentOpened, IncidentChanged, IncidentClosed,
    AttemptsSkipped, IncidentNoted, NodeCheckChanged, NodeCheckHandled, NodeMarked,
    NodeRepairChanged, NodeValidated, JobReopened, TokensUsed, SecretSet, SecretRemoved,
    NodeIdentitySet, UserRemoved, NodeRemoved, KnobSet, KnobUnset, JobEdited, JobUsesSdk, NodeSet>;

struct Event {
  int64_t seq = 0;  // from 1, without gaps
  UnixTime time{};
  std::string actor;  // a user, "scheduler", "agent:NODE" or "server"
  EventBody body;
};

std::string_view kind_of(const EventBody& body);  // "job_submitted": kKind
bool has_trait(const EventBody& body, EventTraits trait);
// The job or node the event is about; 0 when it is about neither.
JobId job_of(const EventBody& body);
NodeId node_of(const EventBody& body);
// Of all texts in it, in bytes of JSON: nearly all of what it is in the log, and in an append.
int64_t text_bytes(const EventBody& body);
int64_t text_bytes(const JobSpec& spec);
// What one that is kept takes, about.
int64_t memory_bytes(const Event& event);

}  // namespace hai
