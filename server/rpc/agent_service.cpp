#include "server/rpc/agent_service.h"

#include "common/loop.h"
#include "common/tls/request.h"
#include "server/rpc/agent_gateway.h"
#include "server/rpc/agent_reactor.h"
#include "server/rpc/status_map.h"

namespace hai {
namespace {

// The guard (serving.cpp) has judged it: an empty one proves nothing, and two are refused.
bool shows_token(const grpc::CallbackServerContext& context) {
  const auto found = context.client_metadata().find("authorization");
  return found != context.client_metadata().end() && !found->second.empty();
}

// A call that has ended before it began.
class Refused final : public grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage> {
 public:
  explicit Refused(const Status& why) { Finish(to_grpc(why)); }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* AgentService::Connect(
    grpc::CallbackServerContext* context) {
  std::shared_ptr<void> place;
  if (!wants_certificates_ && !shows_token(*context)) {
    place = {nullptr, [count = strangers_](void*) { --*count; }};
    if (++*strangers_ > kStrangersMax) {
      return new Refused(resource_exhausted("{} agents are saying hello already", kStrangersMax));
    }
  }
  auto reactor = std::make_shared<AgentReactor>(loop_, *context, wants_certificates_,
                                                std::move(place), known_);
  reactor->begin(
      [this](std::shared_ptr<AgentStream> stream) { return gateway_.opened(std::move(stream)); });
  return reactor.get();
}

grpc::ServerUnaryReactor* AgentService::Renew(grpc::CallbackServerContext* context,
                                              const v1::RenewRequest* request,
                                              v1::RenewReply* reply) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const std::vector<std::string> nodes = nodes_of(*context->auth_context());
  const std::optional<UnixTime> begins = begins_of(*context->auth_context());
  Status status = ok();
  if (!wants_certificates_ || nodes.size() != 1 || !begins) {
    status = permission_denied("only a node that shows its certificate gets a new one");
  } else if (!renew_) {
    status = failed_precondition("this server issues no certificates");
  } else if (request->csr().size() > kRequestBytesMax) {
    status = invalid_argument("csr has {} bytes, allowed is {}", request->csr().size(),
                              kRequestBytesMax);
  }
  if (!status.is_ok()) {
    reactor->Finish(to_grpc(status));
    return reactor;
  }
  loop_.post([this, reactor, reply, node = nodes.front(), begins = *begins, csr = request->csr()] {
    renew_(node, begins, csr, [reactor, reply](Result<v1::RenewReply> made) {
      if (made.is_ok()) *reply = std::move(made).value();
      reactor->Finish(to_grpc(made.status()));
    });
  });
  return reactor;
}

}  // namespace hai
