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

class ApiService final : public v1::Api::CallbackService {
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
  HAI_UNARY(SubmitJob, SubmitJobRequest, SubmitJobReply)
  HAI_UNARY(SubmitJobs, SubmitJobsRequest, SubmitJobsReply)
  HAI_UNARY(GetJob, GetJobRequest, Job)
  HAI_UNARY(ListJobs, ListJobsRequest, ListJobsReply)
  HAI_UNARY(ListAttempts, ListAttemptsRequest, ListAttemptsReply)
  HAI_UNARY(ControlJob, ControlJobRequest, ControlJobReply)
  HAI_UNARY(SetJobPriority, SetJobPriorityRequest, Job)
  HAI_UNARY(MoveJob, MoveJobRequest, MoveJobReply)
  HAI_UNARY(WhatIf, WhatIfRequest, WhatIfReply)
  HAI_UNARY(WhyJob, WhyJobRequest, WhyJobReply)
  HAI_STREAM(ReadLog, ReadLogRequest, ReadLogReply)
  HAI_STREAM(WatchJob, WatchJobRequest, Job)
  HAI_STREAM(WatchEvents, WatchEventsRequest, Event)
  HAI_UNARY(ListEvents, ListEventsRequest, ListEventsReply)
  HAI_UNARY(ListNodes, ListNodesRequest, ListNodesReply)
  HAI_UNARY(GetNode, GetNodeRequest, Node)
  HAI_UNARY(ControlNode, ControlNodeRequest, ControlNodeReply)
  HAI_UNARY(GetCluster, GetClusterRequest, Cluster)
  HAI_UNARY(ListIncidents, ListIncidentsRequest, ListIncidentsReply)
  HAI_UNARY(CloseIncident, CloseIncidentRequest, CloseIncidentReply)
  HAI_UNARY(WhoAmI, WhoAmIRequest, WhoAmIReply)
  HAI_UNARY(ListQuotas, ListQuotasRequest, ListQuotasReply)
  HAI_UNARY(SetQuota, SetQuotaRequest, Quota)
  HAI_UNARY(DeleteQuota, DeleteQuotaRequest, DeleteQuotaReply)
  HAI_UNARY(ListUsers, ListUsersRequest, ListUsersReply)
  HAI_UNARY(SetUser, SetUserRequest, User)
  HAI_UNARY(CreateToken, CreateTokenRequest, CreateTokenReply)
  HAI_UNARY(ListTokens, ListTokensRequest, ListTokensReply)
  HAI_UNARY(RevokeToken, RevokeTokenRequest, RevokeTokenReply)
#undef HAI_UNARY
#undef HAI_STREAM

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
