#include "cli/client.h"

#include <grpcpp/grpcpp.h>

#include "cli/client_wire.h"

namespace hai::cli {

struct Client::Wire : ClientWire {
  using ClientWire::ClientWire;
};

Client::Client(std::vector<std::string> servers, std::string token, TlsTexts tls)
    : wire_(std::make_unique<Wire>(std::move(servers), std::move(token), std::move(tls))) {}

Client::~Client() = default;

std::unique_ptr<Client> Client::clone() const {
  auto other = std::make_unique<Client>(wire_->servers(), wire_->token(), wire_->tls());
  other->set_notice(wire_->notice());
  return other;
}

void Client::set_notice(Notice notice) { wire_->set_notice(std::move(notice)); }

void Client::hurry(Duration limit) { wire_->hurry(limit); }

void Client::stop() { wire_->stop(); }

#define HAI_CALL(method, Rpc, Request, Reply)                                    \
  Result<v1::Reply> Client::method(const v1::Request& request) {                 \
    return wire_->call<v1::Request, v1::Reply>(&ClientWire::Stub::Rpc, request); \
  }
HAI_CALL(submit_job, SubmitJob, SubmitJobRequest, SubmitJobReply)
HAI_CALL(get_job, GetJob, GetJobRequest, Job)
HAI_CALL(list_jobs, ListJobs, ListJobsRequest, ListJobsReply)
HAI_CALL(list_attempts, ListAttempts, ListAttemptsRequest, ListAttemptsReply)
HAI_CALL(control_job, ControlJob, ControlJobRequest, ControlJobReply)
HAI_CALL(set_job_priority, SetJobPriority, SetJobPriorityRequest, Job)
HAI_CALL(move_job, MoveJob, MoveJobRequest, MoveJobReply)
HAI_CALL(what_if, WhatIf, WhatIfRequest, WhatIfReply)
HAI_CALL(why_job, WhyJob, WhyJobRequest, WhyJobReply)
HAI_CALL(list_events, ListEvents, ListEventsRequest, ListEventsReply)
HAI_CALL(close_incident, CloseIncident, CloseIncidentRequest, CloseIncidentReply)
HAI_CALL(list_incidents, ListIncidents, ListIncidentsRequest, ListIncidentsReply)
HAI_CALL(list_nodes, ListNodes, ListNodesRequest, ListNodesReply)
HAI_CALL(get_node, GetNode, GetNodeRequest, Node)
HAI_CALL(control_node, ControlNode, ControlNodeRequest, ControlNodeReply)
HAI_CALL(get_cluster, GetCluster, GetClusterRequest, Cluster)
HAI_CALL(who_am_i, WhoAmI, WhoAmIRequest, WhoAmIReply)
HAI_CALL(list_quotas, ListQuotas, ListQuotasRequest, ListQuotasReply)
HAI_CALL(set_quota, SetQuota, SetQuotaRequest, Quota)
HAI_CALL(delete_quota, DeleteQuota, DeleteQuotaRequest, DeleteQuotaReply)
HAI_CALL(list_users, ListUsers, ListUsersRequest, ListUsersReply)
HAI_CALL(set_user, SetUser, SetUserRequest, User)
HAI_CALL(create_token, CreateToken, CreateTokenRequest, CreateTokenReply)
HAI_CALL(list_tokens, ListTokens, ListTokensRequest, ListTokensReply)
HAI_CALL(revoke_token, RevokeToken, RevokeTokenRequest, RevokeTokenReply)
#undef HAI_CALL

Status Client::watch_job(const v1::WatchJobRequest& request, const OnMessage<v1::Job>& on_message,
                         std::optional<Duration> limit) {
  return wire_->stream<v1::WatchJobRequest, v1::Job>(&ClientWire::Stub::WatchJob, request,
                                                     on_message, limit);
}

Status Client::watch_events(const v1::WatchEventsRequest& request,
                            const OnMessage<v1::Event>& on_message, std::optional<Duration> limit) {
  return wire_->stream<v1::WatchEventsRequest, v1::Event>(&ClientWire::Stub::WatchEvents, request,
                                                          on_message, limit);
}

Status Client::read_log(const v1::ReadLogRequest& request,
                        const OnMessage<v1::ReadLogReply>& on_message) {
  return wire_->stream<v1::ReadLogRequest, v1::ReadLogReply>(&ClientWire::Stub::ReadLog, request,
                                                             on_message, std::nullopt);
}

}  // namespace hai::cli
