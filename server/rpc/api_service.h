#pragma once
// The gRPC service of people and tools. Each call decodes on gRPC's thread, posts to the loop, and
// is finished from there. By noun: api_jobs.cpp, api_nodes.cpp, api_people.cpp, api_streams.cpp.

#include "common/loop.h"
#include "hai/v1/api.grpc.pb.h"
#include "server/control/command.h"
#include "server/rpc/call_site.h"

namespace hai {

class Actions;
class Advisor;
class LogRouter;
class Queries;
class StandingBoard;

// Who calls, by the token in the metadata.
Caller caller_of(const grpc::CallbackServerContext& context);

// Every call of the service, once: ApiService takes them, and ApiGate stands before each.
#define HAI_API_CALLS(UNARY, STREAM)                             \
  UNARY(SubmitJob, SubmitJobRequest, SubmitJobReply)             \
  UNARY(SubmitJobs, SubmitJobsRequest, SubmitJobsReply)          \
  UNARY(GetJob, GetJobRequest, Job)                              \
  UNARY(ListJobs, ListJobsRequest, ListJobsReply)                \
  UNARY(ListAttempts, ListAttemptsRequest, ListAttemptsReply)    \
  UNARY(ControlJob, ControlJobRequest, ControlJobReply)          \
  UNARY(SetJobPriority, SetJobPriorityRequest, Job)              \
  UNARY(MoveJob, MoveJobRequest, MoveJobReply)                   \
  UNARY(WhatIf, WhatIfRequest, WhatIfReply)                      \
  UNARY(WhyJob, WhyJobRequest, WhyJobReply)                      \
  STREAM(ReadLog, ReadLogRequest, ReadLogReply)                  \
  STREAM(WatchJob, WatchJobRequest, Job)                         \
  STREAM(WatchEvents, WatchEventsRequest, Event)                 \
  UNARY(ListEvents, ListEventsRequest, ListEventsReply)          \
  UNARY(ListNodes, ListNodesRequest, ListNodesReply)             \
  UNARY(GetNode, GetNodeRequest, Node)                           \
  UNARY(ControlNode, ControlNodeRequest, ControlNodeReply)       \
  UNARY(GetCluster, GetClusterRequest, Cluster)                  \
  UNARY(ListIncidents, ListIncidentsRequest, ListIncidentsReply) \
  UNARY(CloseIncident, CloseIncidentRequest, CloseIncidentReply) \
  UNARY(WhoAmI, WhoAmIRequest, WhoAmIReply)                      \
  UNARY(ListQuotas, ListQuotasRequest, ListQuotasReply)          \
  UNARY(SetQuota, SetQuotaRequest, Quota)                        \
  UNARY(DeleteQuota, DeleteQuotaRequest, DeleteQuotaReply)       \
  UNARY(ListUsers, ListUsersRequest, ListUsersReply)             \
  UNARY(SetUser, SetUserRequest, User)                           \
  UNARY(CreateToken, CreateTokenRequest, CreateTokenReply)       \
  UNARY(ListTokens, ListTokensRequest, ListTokensReply)          \
  UNARY(RevokeToken, RevokeTokenRequest, RevokeTokenReply)

class ApiService : public v1::Api::CallbackService {
 public:
  struct Parts {
    Loop& loop;
    const StandingBoard& standing;
    Queries& queries;
    Actions& actions;
    Advisor& advisor;
    LogRouter& logs;
    Admission& admission;
    RequestMeter& meter;
    std::string server_address;  // what Cluster.leader says
  };
  explicit ApiService(Parts parts);

#define HAI_UNARY(name, Request, Reply)                                                        \
  grpc::ServerUnaryReactor* name(grpc::CallbackServerContext*, const v1::Request*, v1::Reply*) \
      override;
#define HAI_STREAM(name, Request, Reply)                                                      \
  grpc::ServerWriteReactor<v1::Reply>* name(grpc::CallbackServerContext*, const v1::Request*) \
      override;
  HAI_API_CALLS(HAI_UNARY, HAI_STREAM)
#undef HAI_UNARY
#undef HAI_STREAM

 protected:
  const CallSite& site() const { return site_; }

 private:
  Loop& loop_;
  Admission& admission_;
  const CallSite site_;
  Queries& queries_;
  Actions& actions_;
  Advisor& advisor_;
  LogRouter& logs_;
  const std::string server_address_;
};

}  // namespace hai
