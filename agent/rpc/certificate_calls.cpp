#include "agent/rpc/certificate_calls.h"

#include <grpcpp/grpcpp.h>

#include <chrono>

#include "hai/v1/agent.grpc.pb.h"
#include "hai/v1/api.grpc.pb.h"
#include "proto/convert/channel_credentials.h"
#include "proto/convert/grpc_locks.h"
#include "proto/convert/server_time.h"

namespace hai {
namespace {

constexpr const char* kLeaderKey = "hai-leader";  // as server/rpc/call_site.h says it

std::shared_ptr<grpc::Channel> open_channel(const std::string& server, const TlsTexts& tls) {
  leave_grpc_locks_unchecked();
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);          // as of the stream
  return grpc::CreateCustomChannel(server, channel_credentials(tls), arguments);
}

Status from_grpc(const grpc::Status& status) {
  if (status.ok()) return ok();
  return {static_cast<Code>(status.error_code()), status.error_message()};
}

void set_deadline(grpc::ClientContext& context, Duration patience) {
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::duration_cast<std::chrono::microseconds>(patience));
}

std::string leader_of(const grpc::ClientContext& context) {
  const auto& metadata = context.GetServerTrailingMetadata();
  const auto found = metadata.find(kLeaderKey);
  return found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
}

// One try; on failure `leader` is whom to ask instead, if the server says so.
Result<NodeCertificateReply> join_once(const JoinCall& call, const std::string& server,
                                       Duration patience, std::string& leader) {
  const auto stub = v1::Api::NewStub(open_channel(server, call.tls));
  grpc::ClientContext context;
  set_deadline(context, patience);
  context.AddMetadata("authorization", "Bearer " + call.token);
  v1::JoinNodeRequest request;
  request.set_name(call.node);
  request.set_csr(call.request);
  request.set_instance(call.machine.instance);
  request.set_machine(call.machine.machine);
  request.set_boot_id(call.machine.boot_id);
  v1::NodeCertificate reply;
  const grpc::Status status = stub->JoinNode(&context, request, &reply);
  leader = status.ok() ? "" : leader_of(context);
  RETURN_IF_ERROR(from_grpc(status));
  return NodeCertificateReply{.certificate = reply.certificate(),
                              .authorities = reply.authorities(),
                              .cluster = reply.cluster()};
}

}  // namespace

Result<NodeCertificateReply> call_join(const JoinCall& call, Duration patience) {
  std::string leader;
  Result<NodeCertificateReply> reply = join_once(call, call.server, patience, leader);
  if (reply.is_ok() || leader.empty() || leader == call.server) return reply;
  return join_once(call, std::string(leader), patience, leader);
}

Result<NodeCertificateReply> call_renew(const std::string& server, const TlsTexts& tls,
                                        const std::string& request, Duration patience) {
  const auto stub = v1::AgentService::NewStub(open_channel(server, tls));
  grpc::ClientContext context;
  set_deadline(context, patience);
  v1::RenewRequest ask;
  ask.set_csr(request);
  v1::RenewReply reply;
  RETURN_IF_ERROR(from_grpc(stub->Renew(&context, ask, &reply)));
  return NodeCertificateReply{.certificate = reply.certificate(),
                              .authorities = reply.authorities()};
}

Result<std::optional<Duration>> ask_clock_ahead(const std::string& server, const TlsTexts& tls,
                                                Duration patience) {
  const auto now = [] {
    return UnixTime(
        std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
  };
  const auto stub = v1::Api::NewStub(open_channel(server, tls));
  std::optional<Duration> ahead;
  // The second call finds a connection that is there, and so tells it closer.
  for (int tries = 0; tries < 2; ++tries) {
    grpc::ClientContext context;
    set_deadline(context, patience);
    v1::BeginSignInReply reply;
    const UnixTime asked = now();
    const grpc::Status status = stub->BeginSignIn(&context, {}, &reply);
    // A refusal tells the time as well.
    ahead = clock_ahead(asked, now(), context);
    if (!ahead) RETURN_IF_ERROR(from_grpc(status));
  }
  return ahead;
}

}  // namespace hai
