#pragma once
// The client of hai-server: one method per call of proto/hai/v1/api.proto, blocking, for one thread
// at a time. Nothing is connected before the first call. A server that does not lead tells who
// does, and that one is asked; with several servers a failover is waited for, and one that answers
// with old facts is believed only if no other one leads.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/time.h"
#include "common/tls/tls_files.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

// Called for each message of a stream; false ends it.
template <typename Message>
using OnMessage = std::function<bool(const Message&)>;

class Client {
 public:
  // Without a CA in `tls`: plain text.
  Client(std::vector<std::string> servers, std::string token, TlsTexts tls = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  // Another connection to the same servers, for another thread.
  std::unique_ptr<Client> clone() const;
  // Told one line about what the user should know besides the answer: that it waits, that facts are
  // old. From the thread that calls.
  using Notice = std::function<void(const std::string&)>;
  void set_notice(Notice notice);
  // From any thread: the call under way and all later ones end with `cancelled` at once.
  void stop();

  // From now on each call ends within `limit`, and nothing is tried again: for what is better left
  // out than waited for.
  void hurry(Duration limit);

  Result<v1::SubmitJobReply> submit_job(const v1::SubmitJobRequest& request);
  Result<v1::Job> get_job(const v1::GetJobRequest& request);
  Result<v1::ListJobsReply> list_jobs(const v1::ListJobsRequest& request);
  Result<v1::ListAttemptsReply> list_attempts(const v1::ListAttemptsRequest& request);
  Result<v1::ControlJobReply> control_job(const v1::ControlJobRequest& request);
  Result<v1::Job> set_job_priority(const v1::SetJobPriorityRequest& request);
  Result<v1::MoveJobReply> move_job(const v1::MoveJobRequest& request);
  Result<v1::WhatIfReply> what_if(const v1::WhatIfRequest& request);
  Result<v1::WhyJobReply> why_job(const v1::WhyJobRequest& request);
  Result<v1::ListEventsReply> list_events(const v1::ListEventsRequest& request);
  Result<v1::CloseIncidentReply> close_incident(const v1::CloseIncidentRequest& request);
  Result<v1::ListIncidentsReply> list_incidents(const v1::ListIncidentsRequest& request);
  Result<v1::ListNodesReply> list_nodes(const v1::ListNodesRequest& request);
  Result<v1::Node> get_node(const v1::GetNodeRequest& request);
  Result<v1::ControlNodeReply> control_node(const v1::ControlNodeRequest& request);
  Result<v1::Cluster> get_cluster(const v1::GetClusterRequest& request);
  Result<v1::WhoAmIReply> who_am_i(const v1::WhoAmIRequest& request);
  Result<v1::ListQuotasReply> list_quotas(const v1::ListQuotasRequest& request);
  Result<v1::Quota> set_quota(const v1::SetQuotaRequest& request);
  Result<v1::DeleteQuotaReply> delete_quota(const v1::DeleteQuotaRequest& request);
  Result<v1::ListUsersReply> list_users(const v1::ListUsersRequest& request);
  Result<v1::User> set_user(const v1::SetUserRequest& request);
  Result<v1::CreateTokenReply> create_token(const v1::CreateTokenRequest& request);
  Result<v1::ListTokensReply> list_tokens(const v1::ListTokensRequest& request);
  Result<v1::RevokeTokenReply> revoke_token(const v1::RevokeTokenRequest& request);

  // Streams: ok when the server ended it or the callback returned false; deadline_exceeded after
  // `limit`. They are not resumed here: the caller knows where it was.
  Status watch_job(const v1::WatchJobRequest& request, const OnMessage<v1::Job>& on_message,
                   std::optional<Duration> limit = std::nullopt);
  Status watch_events(const v1::WatchEventsRequest& request, const OnMessage<v1::Event>& on_message,
                      std::optional<Duration> limit = std::nullopt);
  Status read_log(const v1::ReadLogRequest& request, const OnMessage<v1::ReadLogReply>& on_message);

 private:
  struct Wire;  // keeps gRPC's headers out of every command
  std::unique_ptr<Wire> wire_;
};

}  // namespace hai::cli
