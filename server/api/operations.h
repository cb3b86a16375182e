#pragma once
// What each call of the Api does (proto/hai/v1/api.proto), for gRPC and HTTP alike: they differ in
// how a request comes and an answer goes, and in nothing else.
//
// A call has three parts. Its request is read on the transport's thread, where an error ends it;
// what that gives runs on the loop's thread; the answer is written by who asked, on a thread of his
// choice, since a page of a thousand jobs must not hold up the loop.

#include <concepts>
#include <functional>
#include <string>
#include <utility>

#include "common/loop.h"
#include "hai/v1/api.pb.h"
#include "server/api/source.h"
#include "server/api/text_limits.h"
#include "server/control/command.h"

namespace hai {

class Actions;
class Advisor;
class Enrollment;
class LogSearches;
class Observatory;
class Queries;
class AccountChanges;
class HourCounting;
class QueueBoard;
class SignInDesk;

// Writes the answer into an empty message.
template <typename Reply>
using Fill = std::function<void(Reply&)>;
template <typename Reply>
using Answer = Done<Fill<Reply>>;
// What is to be done on the loop's thread, once, for a request that makes sense; or why it makes
// none. Why something is refused is shortened here, whatever of the request it repeats.
template <typename Reply>
class Prepared : public Result<std::function<void(const Caller&, Answer<Reply>)>> {
 public:
  using Go = std::function<void(const Caller&, Answer<Reply>)>;
  Prepared(const Status& status) : Result<Go>(shortened(status)) {}  // NOLINT: as Result
  template <std::invocable<const Caller&, Answer<Reply>> F>
  Prepared(F go)  // NOLINT: as Result
      : Result<Go>(Go([go = std::move(go)](const Caller& caller, Answer<Reply> answer) mutable {
          go(caller, shortened(std::move(answer)));
        })) {}

  // The same for callers who are held to this.
  Prepared held_to(const CallNeeds& needs) && {
    if (this->is_ok()) {
      this->value() = [needs, go = std::move(this->value())](Caller caller, Answer<Reply> answer) {
        caller.needs = needs;
        go(caller, std::move(answer));
      };
    }
    return std::move(*this);
  }
};

// Every call that is answered once. Streams: ReadLog, WatchJob, WatchEvents.
#define HAI_OPERATIONS(CALL)                                                   \
  CALL(SubmitJob, SubmitJobRequest, SubmitJobReply)                            \
  CALL(SubmitJobs, SubmitJobsRequest, SubmitJobsReply)                         \
  CALL(DryRunJob, DryRunJobRequest, DryRunJobReply)                            \
  CALL(GetJob, GetJobRequest, Job)                                             \
  CALL(GetJobSpec, GetJobSpecRequest, GetJobSpecReply)                         \
  CALL(ListJobs, ListJobsRequest, ListJobsReply)                               \
  CALL(ListAttempts, ListAttemptsRequest, ListAttemptsReply)                   \
  CALL(ListCheckpoints, ListCheckpointsRequest, ListCheckpointsReply)          \
  CALL(GetProgress, GetProgressRequest, Progress)                              \
  CALL(ControlJob, ControlJobRequest, ControlJobReply)                         \
  CALL(SetJobPriority, SetJobPriorityRequest, Job)                             \
  CALL(EditJob, EditJobRequest, EditJobReply)                                  \
  CALL(RerunJob, RerunJobRequest, SubmitJobReply)                              \
  CALL(MoveJob, MoveJobRequest, MoveJobReply)                                  \
  CALL(WhyJob, WhyJobRequest, WhyJobReply)                                     \
  CALL(GetQueue, GetQueueRequest, Queue)                                       \
  CALL(GetJobUsage, GetJobUsageRequest, JobUsage)                              \
  CALL(WhatIf, WhatIfRequest, WhatIfReply)                                     \
  CALL(SearchLog, SearchLogRequest, SearchLogReply)                            \
  CALL(ListEvents, ListEventsRequest, ListEventsReply)                         \
  CALL(ListNodes, ListNodesRequest, ListNodesReply)                            \
  CALL(GetNode, GetNodeRequest, Node)                                          \
  CALL(ListNodeJobs, ListNodeJobsRequest, ListNodeJobsReply)                   \
  CALL(ControlNode, ControlNodeRequest, ControlNodeReply)                      \
  CALL(GetCluster, GetClusterRequest, Cluster)                                 \
  CALL(GetClusterSeries, GetClusterSeriesRequest, ClusterSeries)               \
  CALL(GetHistory, GetHistoryRequest, HistoryReport)                           \
  CALL(ListIncidents, ListIncidentsRequest, ListIncidentsReply)                \
  CALL(CloseIncident, CloseIncidentRequest, CloseIncidentReply)                \
  CALL(GetDigest, GetDigestRequest, Digest)                                    \
  CALL(WhoAmI, WhoAmIRequest, WhoAmIReply)                                     \
  CALL(ListQuotas, ListQuotasRequest, ListQuotasReply)                         \
  CALL(SetQuota, SetQuotaRequest, Quota)                                       \
  CALL(DeleteQuota, DeleteQuotaRequest, DeleteQuotaReply)                      \
  CALL(ListUsers, ListUsersRequest, ListUsersReply)                            \
  CALL(SetUser, SetUserRequest, User)                                          \
  CALL(RemoveUser, RemoveUserRequest, RemoveUserReply)                         \
  CALL(CreateToken, CreateTokenRequest, CreateTokenReply)                      \
  CALL(ListTokens, ListTokensRequest, ListTokensReply)                         \
  CALL(RevokeToken, RevokeTokenRequest, RevokeTokenReply)                      \
  CALL(SignIn, SignInRequest, SignInReply)                                     \
  CALL(BeginSignIn, BeginSignInRequest, BeginSignInReply)                      \
  CALL(SignOut, SignOutRequest, SignOutReply)                                  \
  CALL(ListSecrets, ListSecretsRequest, ListSecretsReply)                      \
  CALL(SetSecret, SetSecretRequest, Secret)                                    \
  CALL(DeleteSecret, DeleteSecretRequest, DeleteSecretReply)                   \
  CALL(CreateJoinToken, CreateJoinTokenRequest, CreateJoinTokenReply)          \
  CALL(ListJoinTokens, ListJoinTokensRequest, ListJoinTokensReply)             \
  CALL(RevokeJoinToken, RevokeJoinTokenRequest, RevokeJoinTokenReply)          \
  CALL(JoinNode, JoinNodeRequest, NodeCertificate)                             \
  CALL(ListNodeIdentities, ListNodeIdentitiesRequest, ListNodeIdentitiesReply) \
  CALL(RevokeNodeIdentity, RevokeNodeIdentityRequest, NodeIdentity)            \
  CALL(ListKnobs, ListKnobsRequest, ListKnobsReply)                            \
  CALL(SetKnob, SetKnobRequest, Knob)                                          \
  CALL(UnsetKnob, UnsetKnobRequest, Knob)                                      \
  CALL(ListAudit, ListAuditRequest, ListAuditReply)

// What the calls do for whoever they are for.
class OperationBodies {
 public:
  struct Parts {
    Loop& loop;
    Queries& queries;
    Actions& actions;
    Advisor& advisor;
    Observatory& observatory;
    Enrollment& enrollment;
    std::string server_address;  // what Cluster.leader says
    SignInDesk& sign_in;
    AccountChanges& accounts;
    QueueBoard& queue;
    const HourCounting& hours;
    LogSearches& searches;
    std::string services_url;  // what WhoAmI says
  };
  explicit OperationBodies(Parts parts) : parts_(std::move(parts)) {}

#define HAI_OPERATION(name, Request, Reply) Prepared<v1::Reply> name(const v1::Request& request);
  HAI_OPERATIONS(HAI_OPERATION)
#undef HAI_OPERATION

 private:
  Parts parts_;
};

// What transports ask: the same, of callers who are held to what each call needs.
class Operations {
 public:
  explicit Operations(OperationBodies::Parts parts) : bodies_(std::move(parts)) {}

#define HAI_OPERATION(name, Request, Reply) Prepared<v1::Reply> name(const v1::Request& request);
  HAI_OPERATIONS(HAI_OPERATION)
#undef HAI_OPERATION

 private:
  OperationBodies bodies_;
};

}  // namespace hai
