#pragma once
// What people ask for. Imperative, one struct per verb; verbs/<verb>.cpp says what happens.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/id.h"
#include "common/job_spec.h"
#include "server/model/job.h"
#include "server/model/node.h"
#include "server/model/user.h"

namespace hai {

// What a call wants of whoever asks, by the contract (server/api/call_needs.h).
struct CallNeeds {
  std::string_view call = "";  // its name there; "" = no call of the contract
  Role role = Role::user;
  TokenScope scope = TokenScope::read;
};

// Who asks: resolved from a token when the command is processed, or named by trusted code
// (bootstrap, simulator).
struct Caller {
  std::string token_hash;  // SHA-256, hex
  std::string trusted_user;
  bool is_server = false;  // the server itself, which may all
  CallNeeds needs = {};    // authenticate() holds him to it
};

struct Actor {
  std::string user;
  Role role = Role::user;  // no more than the scope of his token
  TokenScope scope = TokenScope::admin;
  bool is_operator() const { return role != Role::user; }
};

// What became of a job that has ended and left memory; from the history, before it is asked for.
struct EndedJob {
  JobId id;
  std::string user;
  std::string name;
  JobState state = JobState::failed;
  std::optional<ArrayTask> task = {};  // if it was one
};

struct SubmitJob {
  JobSpec spec;
  std::string request_id;              // same user and id again: the first answer again
  std::vector<EndedJob> history = {};  // those that it depends on
  std::optional<JobId> rerun_of = {};
};
// A job as the old one was, whatever became of that.
struct RerunJob {
  std::shared_ptr<const Job> old;  // of the history; what is in memory goes before it
  std::string name;                // "" = the old one's, or one like it if that is taken
  std::string request_id;
  std::vector<EndedJob> history = {};
};
// Of an unfinished job; what is not given stays.
struct EditJob {
  std::string job;
  std::optional<Duration> timeout = {};
  std::optional<std::vector<std::string>> tags = {};
  std::optional<int> node_count = {};
  std::optional<Priority> priority = {};
  std::optional<UnixTime> begin_at = {};  // the epoch of Unix: at once
  std::optional<int> array_limit = {};    // of an array: tasks unfinished at once; 0 = any
};
// `job` is an id, or the name of an unfinished job of the caller.
struct StopJob {
  std::string job;
  std::string reason;
};
struct SuspendJob {
  std::string job;
  std::string reason;
};  // save, leave, and stay away until ResumeJob
struct ResumeJob {
  std::string job;
};
struct RequeueJob {
  std::string job;
  std::string reason;
};  // save, leave, and start again by itself
struct HoldJob {
  std::string job;
  std::string reason;
};  // don't start; a running attempt goes on
struct ReleaseJob {
  std::string job;
};
struct SetJobPriority {
  std::string job;
  Priority priority = Priority::low;
};

// Among the waiting jobs of its user in its node group.
struct MoveJob {
  enum class To { first, last, before };
  std::string job;
  To to = To::first;
  std::string other;  // of To::before
};

struct CordonNode {
  std::string node;
  std::string reason;
};
struct DrainNode {
  std::string node;
  std::string reason;
  std::optional<UnixTime> deadline = {};  // until then its jobs may end by themselves
};
struct UndrainNode {
  std::string node;
};

// The operator vouches that a silent node has ended its ranks, so that they may run elsewhere.
struct FenceNode {
  std::string node;
  std::string reason;
};

// Out of the cluster, with its identity, until it joins again. It must be down.
struct RemoveNode {
  std::string node;
  std::string reason;
};

// In place of what its agent says. What is not named stays as it is.
struct SetNode {
  std::string node;
  NodeSettings settings;
  std::vector<std::string> reset = {};  // "group", "zone", "leaf", "labels": as its agent says
  std::string reason = {};
};

// It takes no new jobs until it has been validated, and is open again if it passes.
struct ValidateNode {
  std::string node;
};
// Tests them in groups, to find which of them is bad.
struct BisectNodes {
  std::vector<std::string> nodes;
};
struct CloseIncident {
  int64_t incident = 0;
  std::string reason;
};

struct SetUser {
  User user;
};
// With tokens, secrets and own quotas. Who has unfinished jobs stays.
struct RemoveUser {
  std::string name;
};
struct SetQuota {
  Quota quota;
};
struct RemoveQuota {
  Quota quota;
};  // its nodes are ignored
struct AddToken {
  Token token;
};
struct RevokeToken {
  std::string hash;
};
// By the server itself, now and then: when tokens were used. Those that are over leave.
struct NoteTokenUses {
  std::map<std::string, UnixTime> used;  // by hash
};
struct SetSecret {
  Secret secret;  // sealed, of the caller
};
struct RemoveSecret {
  std::string user;
  std::string name;
};
// A certificate was made for the node; with a join token it loses one of its uses.
struct IssueNodeIdentity {
  NodeIdentity identity;
  std::string join_token;  // hash; "" = a renewal
};
struct RevokeNodeIdentity {
  std::string node;
  std::string reason;
};

// Goes before the config from now on, on all servers.
struct SetKnob {
  std::string name;
  std::string value;
  std::string reason;
};
struct UnsetKnob {
  std::string name;
  std::string reason;
  std::string value;  // of the leader's config; the controller fills it in
};

// Every one of them. Its decide() is declared by decision.h and written in verbs/.
#define HAI_COMMANDS(COMMAND) \
  COMMAND(SubmitJob)          \
  COMMAND(StopJob)            \
  COMMAND(SuspendJob)         \
  COMMAND(ResumeJob)          \
  COMMAND(RequeueJob)         \
  COMMAND(HoldJob)            \
  COMMAND(ReleaseJob)         \
  COMMAND(SetJobPriority)     \
  COMMAND(MoveJob)            \
  COMMAND(CordonNode)         \
  COMMAND(DrainNode)          \
  COMMAND(UndrainNode)        \
  COMMAND(FenceNode)          \
  COMMAND(ValidateNode)       \
  COMMAND(BisectNodes)        \
  COMMAND(CloseIncident)      \
  COMMAND(SetUser)            \
  COMMAND(SetQuota)           \
  COMMAND(RemoveQuota)        \
  COMMAND(AddToken)           \
  COMMAND(RevokeToken)        \
  COMMAND(NoteTokenUses)      \
  COMMAND(SetSecret)          \
  COMMAND(RemoveSecret)       \
  COMMAND(IssueNodeIdentity)  \
  COMMAND(RevokeNodeIdentity) \
  COMMAND(RemoveUser)         \
  COMMAND(RemoveNode)         \
  COMMAND(SetNode)            \
  COMMAND(SetKnob)            \
  COMMAND(UnsetKnob)          \
  COMMAND(RerunJob)           \
  COMMAND(EditJob)

// The first type is there for the comma that the list begins with.
template <typename, typename... Commands>
using OneOfCommands = std::variant<Commands...>;
#define HAI_COMMAND_TYPE(name) , name
using Command = OneOfCommands<void HAI_COMMANDS(HAI_COMMAND_TYPE)>;
#undef HAI_COMMAND_TYPE

struct CommandReply {
  JobId job;  // the job submitted or acted on
  std::string name;
  std::string message;  // for people: what happens next
  int64_t rows = 1;     // of jobs that were changed
};

}  // namespace hai
