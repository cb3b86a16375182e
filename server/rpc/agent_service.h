#pragma once
// The gRPC service agents dial: makes a reactor for each stream and hands it to the gateway.

#include "hai/v1/agent.grpc.pb.h"

namespace hai {

class AgentGateway;
class Loop;

class AgentService final : public v1::AgentService::CallbackService {
 public:
  // `wants_certificates`: an agent must prove by one that it is the node it says.
  AgentService(Loop& loop, AgentGateway& gateway, bool wants_certificates = false)
      : loop_(loop), gateway_(gateway), wants_certificates_(wants_certificates) {}

  grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* Connect(
      grpc::CallbackServerContext* context) override;

 private:
  Loop& loop_;
  AgentGateway& gateway_;
  const bool wants_certificates_;
};

}  // namespace hai
