#include "cli/client.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <thread>

#include "hai/v1/api.grpc.pb.h"

namespace hai::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr Duration kCallTimeout = 30s;
constexpr Duration kFailoverPatience = 5s;  // a standby takes over within 3 s
constexpr Duration kFailoverPause = 200ms;
constexpr int kReplyBytesMax = 64 << 20;

std::shared_ptr<grpc::Channel> open_channel(const std::string& server) {
  grpc::ChannelArguments arguments;
  arguments.SetUserAgentPrefix("hai-cli");
  arguments.SetMaxReceiveMessageSize(kReplyBytesMax);
  // gRPC would wait 1 s and more between attempts to connect: too long for a person.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // In gRPC's words the shortest pause; in fact how long one attempt to connect may take. On a busy
  // machine 100 ms are not enough, and a call fails at once when its attempt does.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 10'000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(), arguments);
}

// UNAVAILABLE is said by gRPC itself, about the connection, and by the server, about itself or its
// store.
bool is_no_connection(const grpc::ClientContext& context) {
  return context.debug_error_string().find("received from peer") == std::string::npos;
}

// gRPC wraps the cause in several layers; the last one is what helps.
std::string short_cause(const std::string& text) {
  if (text.find("Connection refused") != std::string::npos) return "connection refused";
  const size_t last = text.rfind(": ");
  return last == std::string::npos ? text : text.substr(last + 2);
}

}  // namespace

struct Client::Wire {
  using Stub = v1::Api::StubInterface;
  template <typename Request, typename Reply>
  using Method = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Reply*);

  std::vector<std::string> servers;
  std::string token;
  std::vector<std::unique_ptr<Stub>> stubs;
  size_t current = 0;

  Stub& stub() {
    stubs.resize(servers.size());
    if (!stubs[current]) stubs[current] = v1::Api::NewStub(open_channel(servers[current]));
    return *stubs[current];
  }

  void prepare(grpc::ClientContext& context, std::optional<Duration> limit) const {
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    if (limit) context.set_deadline(std::chrono::system_clock::now() + *limit);
  }

  Status to_status(const grpc::Status& status, const grpc::ClientContext& context) const {
    if (status.ok()) return ok();
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE && is_no_connection(context)) {
      return unavailable("cannot reach hai-server at {}: {}", servers[current],
                         short_cause(status.error_message()));
    }
    return Status(static_cast<Code>(status.error_code()), status.error_message());
  }

  template <typename Request, typename Reply>
  Result<Reply> call(Method<Request, Reply> method, const Request& request) {
    const auto give_up = SteadyClock::now() + kFailoverPatience;
    for (size_t tries = 1;; ++tries) {
      grpc::ClientContext context;
      prepare(context, kCallTimeout);
      Reply reply;
      const grpc::Status status = (stub().*method)(&context, request, &reply);
      if (status.ok()) return reply;
      const bool retry = status.error_code() == grpc::StatusCode::UNAVAILABLE &&
                         servers.size() > 1 && SteadyClock::now() < give_up;
      if (!retry) return to_status(status, context);
      current = (current + 1) % servers.size();
      if (tries % servers.size() == 0) std::this_thread::sleep_for(kFailoverPause);
    }
  }

  template <typename Request, typename Message>
  using StreamMethod = std::unique_ptr<grpc::ClientReaderInterface<Message>> (Stub::*)(
      grpc::ClientContext*, const Request&);

  template <typename Request, typename Message>
  Status stream(StreamMethod<Request, Message> method, const Request& request,
                const OnMessage<Message>& on_message, std::optional<Duration> limit) {
    grpc::ClientContext context;
    prepare(context, limit);
    auto reader = (stub().*method)(&context, request);
    Message message;
    bool wanted = true;
    while (wanted && reader->Read(&message)) wanted = on_message(message);
    if (!wanted) {
      context.TryCancel();
      while (reader->Read(&message)) continue;
    }
    const grpc::Status status = reader->Finish();
    if (!wanted) return ok();
    const Status result = to_status(status, context);
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
      current = (current + 1) % servers.size();
    }
    return result;
  }
};

Client::Client(std::vector<std::string> servers, std::string token)
    : wire_(std::make_unique<Wire>()) {
  CHECK(!servers.empty());
  wire_->servers = std::move(servers);
  wire_->token = std::move(token);
}

Client::~Client() = default;

std::unique_ptr<Client> Client::clone() const {
  return std::make_unique<Client>(wire_->servers, wire_->token);
}

#define HAI_CALL(method, Rpc, Request, Reply)                              \
  Result<v1::Reply> Client::method(const v1::Request& request) {           \
    return wire_->call<v1::Request, v1::Reply>(&Wire::Stub::Rpc, request); \
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
  return wire_->stream<v1::WatchJobRequest, v1::Job>(&Wire::Stub::WatchJob, request, on_message,
                                                     limit);
}

Status Client::watch_events(const v1::WatchEventsRequest& request,
                            const OnMessage<v1::Event>& on_message, std::optional<Duration> limit) {
  return wire_->stream<v1::WatchEventsRequest, v1::Event>(&Wire::Stub::WatchEvents, request,
                                                          on_message, limit);
}

Status Client::read_log(const v1::ReadLogRequest& request,
                        const OnMessage<v1::ReadLogReply>& on_message) {
  return wire_->stream<v1::ReadLogRequest, v1::ReadLogReply>(&Wire::Stub::ReadLog, request,
                                                             on_message, std::nullopt);
}

}  // namespace hai::cli
