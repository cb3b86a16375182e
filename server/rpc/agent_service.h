#pragma once
// The gRPC service agents dial: makes a reactor for each stream and hands it to the gateway.

#include "hai/v1/agent.grpc.pb.h"

namespace hai {

class AgentGateway;
class Loop;

class AgentService final : public v1::AgentService::CallbackService {
 public:
  AgentService(Loop& loop, AgentGateway& gateway) : loop_(loop), gateway_(gateway) {}

  grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* Connect(
      grpc::CallbackServerContext* context) override;

 private:
  Loop& loop_;
  AgentGateway& gateway_;
};

}  // namespace hai
