#include "server/rpc/agent_service.h"

#include "server/rpc/agent_gateway.h"
#include "server/rpc/agent_reactor.h"
#include "server/rpc/status_map.h"

namespace hai {
namespace {

// The guard judges a token that is not empty (serving.cpp), and no call with more than one.
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

}  // namespace hai
