#include "server/rpc/agent_service.h"

#include "server/rpc/agent_gateway.h"
#include "server/rpc/agent_reactor.h"

namespace hai {

grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* AgentService::Connect(
    grpc::CallbackServerContext* context) {
  auto reactor = std::make_shared<AgentReactor>(loop_, *context, wants_certificates_);
  reactor->begin(
      [this](std::shared_ptr<AgentStream> stream) { return gateway_.opened(std::move(stream)); });
  return reactor.get();
}

}  // namespace hai
