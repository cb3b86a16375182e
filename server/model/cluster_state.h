#pragma once
// The whole hard state of the cluster and its indexes. Owned by the controller, used on its thread
// only. apply(event) is the only mutator: replaying the event log from empty gives an equal state.
// Maps are ordered so that every walk is the same on every machine.

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/model/event.h"
#include "server/model/incident.h"
#include "server/model/job.h"
#include "server/model/node.h"
#include "server/model/node_census.h"
#include "server/model/rows.h"
#include "server/model/user.h"

namespace hai {

// A submit that was answered with this job. Asked again, even when by then the job has ended and
// been forgotten, it gets the same answer.
struct AnsweredRequest {
  std::string user;
  std::string request_id;
  JobId job;
};
inline constexpr size_t kAnsweredRequestsMax = 10'000;  // that a new leader knows: the newest

// What a store keeps and gives back: unfinished jobs, nodes, people. Finished jobs stay in the
// store.
struct StoredState {
  Epoch epoch;
  int64_t last_seq = 0;
  JobId last_job;
  std::vector<Job> jobs;
  std::vector<AnsweredRequest> requests;
  std::vector<Node> nodes;
  std::vector<User> users;
  std::vector<Quota> quotas;
  std::vector<Token> tokens;
  std::vector<Secret> secrets;
  std::vector<NodeIdentity> identities;
  std::vector<KnobSetting> knobs;
  IncidentId last_incident;
  std::vector<Incident> incidents;  // open ones
};

// An attempt that has ended and made room for the next one.
struct ReplacedAttempt {
  JobId job;
  Attempt attempt;
};

// What changed since take_touched() and the store must write: keys of rows, and attempts that are
// not in the state any more.
struct Touched {
  std::set<JobId> jobs;
  std::vector<ReplacedAttempt> replaced_attempts;
  std::set<NodeId> nodes;
  std::set<std::string> users;
  std::set<std::tuple<std::string, std::string, Priority>> quotas;
  std::set<std::string> tokens;
  std::set<std::pair<std::string, std::string>> secrets;
  std::set<std::string> identities;
  std::set<std::string> knobs;
  std::set<IncidentId> incidents;
  std::vector<Incident> closed_incidents;
};

// What a planner has to look at again since take_changes(): every job and node that an event moved,
// derived fields included. May name one twice.
struct Changes {
  std::vector<JobId> jobs;
  std::vector<NodeId> nodes;
  bool everything = false;  // people, quotas, a new leader, or too much to list
};

// Of the ranks of a live attempt: what is asked at each report of each rank would cost a job on n
// nodes n² if it looked at all of them.
struct RankCounts {
  size_t pending = 0;
  size_t gone = 0;  // see is_gone()
  size_t left = 0;  // of them, by ExitCause::left
  size_t well = 0;  // of them, by programs that exited with code 0
  bool operator==(const RankCounts&) const = default;

  void add_gone(ExitCause cause, int exit_code);
};
RankCounts count_ranks(const Attempt& attempt);

class ClusterState {
 public:
  using QuotaKey = std::tuple<std::string, std::string, Priority>;  // owner, group, priority
  using SecretKey = std::pair<std::string, std::string>;            // user, name
  using WaitingKey = std::pair<int, JobId>;  // −priority, id: iterates in queue order

  ClusterState() = default;
  explicit ClusterState(StoredState stored);

  void apply(const Event& event);
  Touched take_touched();
  Changes take_changes() { return std::exchange(changes_, {}); }
  // Forgets the oldest finished jobs beyond `keep`. They are in the store.
  void evict_finished(size_t keep);

  // What was applied until now is in the store. From the first call on, what later events change is
  // kept as it was, until the next one.
  void mark_durable();
  bool has_undurable() const { return durable_ && durable_->last_seq != last_seq_; }
  // All as it was then; nothing is left here.
  StoredState take_durable() &&;

  Epoch epoch() const { return epoch_; }
  // When it began; the distant past for a state in which none has begun yet.
  UnixTime epoch_began_at() const { return epoch_began_at_; }
  int64_t last_seq() const { return last_seq_; }
  JobId last_job() const { return last_job_; }

  const Job* find(JobId job) const;
  // The oldest of that name: only singletons, and an array with its tasks, share one.
  const Job* find_unfinished(const std::string& user, const std::string& name) const;
  // Oldest first.
  std::vector<JobId> all_unfinished(const std::string& user, const std::string& name) const;
  // Null if it is not made yet, or not in memory any more.
  const Job* find_task(const ArrayTask& task) const;
  // In the order of their indices.
  std::vector<JobId> unfinished_tasks(JobId array) const;
  struct WaitingTasks {
    int all = 0;
    int held = 0;  // of them
    bool operator==(const WaitingTasks&) const = default;
  };
  WaitingTasks waiting_tasks(JobId array) const;
  // The job that this one is now, if it has been run again; else itself. As far as memory goes.
  JobId newest_rerun_of(JobId job) const;
  // With the indices of their tasks.
  const std::map<JobId, ArrayRange>& unfinished_arrays() const { return unfinished_arrays_; }
  // The job may be one that is not in memory any more.
  std::optional<JobId> find_request(const std::string& user, const std::string& request_id) const;
  const Node* find(NodeId node) const;
  const Node* find_node(const std::string& name) const;
  const User* find_user(const std::string& name) const;
  const Token* find_token(const std::string& hash) const;
  const Secret* find_secret(const std::string& user, const std::string& name) const;
  const NodeIdentity* find_identity(const std::string& node) const;

  const std::map<JobId, Job>& jobs() const { return jobs_.all(); }
  const std::map<NodeId, Node>& nodes() const { return nodes_.all(); }
  size_t present_nodes() const;  // those that were not removed
  // Finished jobs in memory, in the order they ended.
  const std::set<std::pair<UnixTime, JobId>>& finished() const { return finished_; }
  const std::map<std::string, User>& users() const { return users_.all(); }
  const std::map<QuotaKey, Quota>& quotas() const { return quotas_.all(); }
  const std::map<std::string, Token>& tokens() const { return tokens_.all(); }
  const std::map<SecretKey, Secret>& secrets() const { return secrets_.all(); }
  const std::map<std::string, NodeIdentity>& identities() const { return identities_.all(); }
  // By name: what goes before the config.
  const std::map<std::string, KnobSetting>& knobs() const { return knobs_.all(); }
  const std::map<IncidentId, Incident>& incidents() const { return incidents_.all(); }  // open ones
  IncidentId last_incident() const { return last_incident_; }
  const std::set<WaitingKey>& waiting() const { return waiting_; }  // held ones too
  const std::set<JobId>& live() const { return live_; }             // jobs with a live attempt
  RankCounts rank_counts(JobId live) const { return rank_counts_.at(live); }
  const std::set<JobId>& reserved() const { return reserved_; }  // jobs with a reservation
  int64_t unfinished_count(const std::string& user) const;
  // Running jobs moved to make whole nodes, from `since` on; those before this term are forgotten.
  int64_t moves_since(UnixTime since) const;

  // Quota of `user`: his own row, else the best of his groups, else "public"'s; nullopt = no row at
  // all.
  std::optional<int64_t> quota_nodes(const User& user, const std::string& group,
                                     Priority priority) const;
  // Node units (kNodeUnit each) his live attempts use in `group` at `priority`.
  int64_t used_node_units(const std::string& user, const std::string& group,
                          Priority priority) const;
  static constexpr int64_t kNodeUnit = 1000;
  // Units one job takes of its quota: whole nodes count 1000 each, shares in proportion. A quota is
  // one of GPUs: jobs without take nothing of it.
  static int64_t node_units(int node_count, int gpus_per_node, int gpus_of_node);
  static int64_t rank_units(const Attempt& attempt, const Rank& rank, int gpus_of_node);
  const NodeCensus& node_census() const { return node_census_; }
  // GPUs of the group's largest node; 0 if it has none.
  int gpus_of_largest_node(const std::string& group) const;

  // An open one of this kind; null if there is none.
  const Incident* open_incident(std::string_view kind) const;

  // Equal in everything durable: for the ledger check.
  bool equals(const ClusterState& other) const;

 private:
#define HAI_APPLY(Type) void on(const Type& event, const Event& meta)
  HAI_APPLY(EpochStarted);
  HAI_APPLY(UserSet);
  HAI_APPLY(QuotaSet);
  HAI_APPLY(QuotaRemoved);
  HAI_APPLY(TokenSet);
  HAI_APPLY(TokenRevoked);
  HAI_APPLY(TokensUsed);
  HAI_APPLY(SecretSet);
  HAI_APPLY(SecretRemoved);
  HAI_APPLY(NodeIdentitySet);
  HAI_APPLY(JobSubmitted);
  HAI_APPLY(JobHeld);
  HAI_APPLY(JobReleased);
  HAI_APPLY(JobPriorityChanged);
  HAI_APPLY(JobRankChanged);
  HAI_APPLY(JobStopRequested);
  HAI_APPLY(JobFinished);
  HAI_APPLY(NodesReserved);
  HAI_APPLY(ReservationDropped);
  HAI_APPLY(AttemptPlaced);
  HAI_APPLY(AttemptStarting);
  HAI_APPLY(RankRunning);
  HAI_APPLY(RankEnded);
  HAI_APPLY(AttemptRunning);
  HAI_APPLY(AttemptSuspending);
  HAI_APPLY(AttemptContinued);
  HAI_APPLY(AttemptEnding);
  HAI_APPLY(AttemptEnded);
  HAI_APPLY(JobRequeued);
  HAI_APPLY(CheckpointReported);
  HAI_APPLY(LifeStateSet);
  HAI_APPLY(NodeRegistered);
  HAI_APPLY(NodeLivenessChanged);
  HAI_APPLY(NodeSchedulingChanged);
  HAI_APPLY(NodePeersNamed);
  HAI_APPLY(NodePeersConfirmed);
  HAI_APPLY(IncidentOpened);
  HAI_APPLY(IncidentChanged);
  HAI_APPLY(IncidentClosed);
  HAI_APPLY(AttemptsSkipped);
  HAI_APPLY(IncidentNoted);
  HAI_APPLY(NodeCheckChanged);
  HAI_APPLY(NodeCheckHandled);
  HAI_APPLY(NodeMarked);
  HAI_APPLY(NodeRepairChanged);
  HAI_APPLY(NodeValidated);
  HAI_APPLY(JobReopened);
  HAI_APPLY(UserRemoved);
  HAI_APPLY(NodeRemoved);
  HAI_APPLY(KnobSet);
  HAI_APPLY(KnobUnset);
  HAI_APPLY(JobEdited);
  HAI_APPLY(JobUsesSdk);
  HAI_APPLY(NodeSet);
#undef HAI_APPLY

  ArrayCounts* counts_of(const Job& task);

  // To change what is stored of it; whom it does not change asks for the const ones.
  Job& job(JobId id);
  Attempt& live_attempt(JobId id, int attempt);
  Node& node(NodeId id);
  Node& derived_node(NodeId id);  // only what follows from jobs
  void note_change(JobId id);
  void note_change(NodeId id);
  void note_node_size(const Node& node);
  void forget_as_peer(NodeId replaced);
  // Derived indexes of one job: remove before, add after a change that moves it.
  void index(const Job& job);
  void unindex(const Job& job);
  void occupy(const Job& job);
  void vacate(const Job& job);
  void vacate(const Job& job, const Rank& rank);
  void hold(const Job& job);
  void unhold(const Job& job);
  void add_usage(const Job& job, int sign);
  void add_units(const Job& job, int64_t units);
  void note_usage(const Job& owner, int64_t gpu_seconds, int64_t user_gpu_seconds, UnixTime now);
  // Of a job that has started or ended: what waits for it.
  void settle_dependents(const Job& other, UnixTime now);
  void note_failed_dependency(Job& dependent) const;
  static void note_pairs_in_vain(Job& dependent, const Job& other);
  void wait_for_rerun(JobId old, JobId rerun);

  Epoch epoch_;
  UnixTime epoch_began_at_{};
  int64_t last_seq_ = 0;
  JobId last_job_;
  Rows<JobId, Job> jobs_;
  Rows<NodeId, Node> nodes_;
  Rows<std::string, User> users_;
  Rows<QuotaKey, Quota> quotas_;
  Rows<std::string, Token> tokens_;
  Rows<SecretKey, Secret> secrets_;
  Rows<std::string, NodeIdentity> identities_;
  Rows<std::string, KnobSetting> knobs_;
  IncidentId last_incident_;
  Rows<IncidentId, Incident> incidents_;

  std::map<std::string, NodeId> node_names_;
  std::set<std::tuple<std::string, std::string, JobId>> unfinished_names_;  // user, name
  std::map<std::pair<std::string, std::string>, JobId> requests_;
  std::map<JobId, std::set<JobId>> dependents_;
  std::map<std::string, int64_t> unfinished_counts_;
  std::map<QuotaKey, int64_t> usage_;
  std::set<WaitingKey> waiting_;
  std::map<ArrayTask, JobId> tasks_;  // those in memory
  std::map<JobId, JobId> reruns_;     // old → newest
  std::map<JobId, WaitingTasks> waiting_tasks_;
  std::map<JobId, ArrayRange> unfinished_arrays_;
  std::set<JobId> live_;
  std::map<JobId, RankCounts> rank_counts_;  // of those
  std::set<JobId> reserved_;
  std::set<std::pair<UnixTime, JobId>> finished_;  // in the order they ended
  std::map<std::string, int> largest_nodes_;       // group → GPUs
  NodeCensus node_census_;
  static constexpr size_t kMovesMax = 10'000;
  std::deque<std::pair<UnixTime, size_t>> moves_;  // not stored
  std::vector<ReplacedAttempt> replaced_attempts_;
  std::vector<Incident> closed_incidents_;
  Changes changes_;

  // Where the log ended when all was durable; the rows know what they were (rows.h).
  struct Durable {
    Epoch epoch;
    int64_t last_seq = 0;
    JobId last_job;
    IncidentId last_incident;
  };
  std::optional<Durable> durable_;
};

}  // namespace hai
