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
#include "hai/v1/shell.pb.h"

namespace hai::cli {

// The calls that are answered once and that `hai` makes: method, rpc, request, reply.
#define HAI_CLIENT_CALLS(CALL)                                                           \
  CALL(submit_job, SubmitJob, SubmitJobRequest, SubmitJobReply)                          \
  CALL(get_job, GetJob, GetJobRequest, Job)                                              \
  CALL(get_job_spec, GetJobSpec, GetJobSpecRequest, GetJobSpecReply)                     \
  CALL(list_jobs, ListJobs, ListJobsRequest, ListJobsReply)                              \
  CALL(list_attempts, ListAttempts, ListAttemptsRequest, ListAttemptsReply)              \
  CALL(control_job, ControlJob, ControlJobRequest, ControlJobReply)                      \
  CALL(set_job_priority, SetJobPriority, SetJobPriorityRequest, Job)                     \
  CALL(move_job, MoveJob, MoveJobRequest, MoveJobReply)                                  \
  CALL(edit_job, EditJob, EditJobRequest, EditJobReply)                                  \
  CALL(rerun_job, RerunJob, RerunJobRequest, SubmitJobReply)                             \
  CALL(what_if, WhatIf, WhatIfRequest, WhatIfReply)                                      \
  CALL(get_queue, GetQueue, GetQueueRequest, Queue)                                      \
  CALL(why_job, WhyJob, WhyJobRequest, WhyJobReply)                                      \
  CALL(search_log, SearchLog, SearchLogRequest, SearchLogReply)                          \
  CALL(list_events, ListEvents, ListEventsRequest, ListEventsReply)                      \
  CALL(close_incident, CloseIncident, CloseIncidentRequest, CloseIncidentReply)          \
  CALL(list_incidents, ListIncidents, ListIncidentsRequest, ListIncidentsReply)          \
  CALL(list_nodes, ListNodes, ListNodesRequest, ListNodesReply)                          \
  CALL(get_node, GetNode, GetNodeRequest, Node)                                          \
  CALL(control_node, ControlNode, ControlNodeRequest, ControlNodeReply)                  \
  CALL(get_cluster, GetCluster, GetClusterRequest, Cluster)                              \
  CALL(who_am_i, WhoAmI, WhoAmIRequest, WhoAmIReply)                                     \
  CALL(list_quotas, ListQuotas, ListQuotasRequest, ListQuotasReply)                      \
  CALL(set_quota, SetQuota, SetQuotaRequest, Quota)                                      \
  CALL(delete_quota, DeleteQuota, DeleteQuotaRequest, DeleteQuotaReply)                  \
  CALL(list_users, ListUsers, ListUsersRequest, ListUsersReply)                          \
  CALL(set_user, SetUser, SetUserRequest, User)                                          \
  CALL(remove_user, RemoveUser, RemoveUserRequest, RemoveUserReply)                      \
  CALL(list_knobs, ListKnobs, ListKnobsRequest, ListKnobsReply)                          \
  CALL(set_knob, SetKnob, SetKnobRequest, Knob)                                          \
  CALL(unset_knob, UnsetKnob, UnsetKnobRequest, Knob)                                    \
  CALL(create_token, CreateToken, CreateTokenRequest, CreateTokenReply)                  \
  CALL(list_tokens, ListTokens, ListTokensRequest, ListTokensReply)                      \
  CALL(revoke_token, RevokeToken, RevokeTokenRequest, RevokeTokenReply)                  \
  CALL(sign_in, SignIn, SignInRequest, SignInReply)                                      \
  CALL(begin_sign_in, BeginSignIn, BeginSignInRequest, BeginSignInReply)                 \
  CALL(sign_out, SignOut, SignOutRequest, SignOutReply)                                  \
  CALL(set_secret, SetSecret, SetSecretRequest, Secret)                                  \
  CALL(list_secrets, ListSecrets, ListSecretsRequest, ListSecretsReply)                  \
  CALL(delete_secret, DeleteSecret, DeleteSecretRequest, DeleteSecretReply)              \
  CALL(list_audit, ListAudit, ListAuditRequest, ListAuditReply)                          \
  CALL(create_join_token, CreateJoinToken, CreateJoinTokenRequest, CreateJoinTokenReply) \
  CALL(list_join_tokens, ListJoinTokens, ListJoinTokensRequest, ListJoinTokensReply)     \
  CALL(revoke_join_token, RevokeJoinToken, RevokeJoinTokenRequest, RevokeJoinTokenReply) \
  CALL(list_node_identities, ListNodeIdentities, ListNodeIdentitiesRequest,              \
       ListNodeIdentitiesReply)                                                          \
  CALL(revoke_node_identity, RevokeNodeIdentity, RevokeNodeIdentityRequest, NodeIdentity)

// Called for each message of a stream; false ends it.
template <typename Message>
using OnMessage = std::function<bool(const Message&)>;

// A way into a rank. Blocking, for one thread that reads and one that writes.
class ShellCall {
 public:
  virtual ~ShellCall() = default;
  virtual const v1::ShellStarted& started() const = 0;
  // False: it has ended.
  virtual bool read(v1::ShellMessage& message) = 0;
  virtual bool write(const v1::ShellMessage& message) = 0;
  // Why it has ended; once nobody reads or writes any more.
  virtual Status finish() = 0;
  // From any thread: whoever reads or writes is told that it has ended.
  virtual void cancel() = 0;
};

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

  // By how much this machine's clock is ahead, at least, of that of the server which ended the last
  // call (but of streams); nullopt: it does not tell.
  std::optional<Duration> clock_ahead() const;

#define HAI_METHOD(method, Rpc, Request, Reply) \
  Result<v1::Reply> method(const v1::Request& request);
  HAI_CLIENT_CALLS(HAI_METHOD)
#undef HAI_METHOD

  // Streams: ok when the server ended it or the callback returned false; deadline_exceeded after
  // `limit`. They are not taken up again here: the caller knows where it was.
  Status watch_job(const v1::WatchJobRequest& request, const OnMessage<v1::Job>& on_message,
                   std::optional<Duration> limit = std::nullopt);
  Status watch_events(const v1::WatchEventsRequest& request, const OnMessage<v1::Event>& on_message,
                      std::optional<Duration> limit = std::nullopt);
  Status read_log(const v1::ReadLogRequest& request, const OnMessage<v1::ReadLogReply>& on_message);
  // Returns when the program runs there. Tried again only where nobody was asked yet.
  Result<std::unique_ptr<ShellCall>> open_shell(const v1::ShellOpen& open);

 private:
  struct Wire;  // keeps gRPC's headers out of every command
  std::unique_ptr<Wire> wire_;
};

}  // namespace hai::cli
