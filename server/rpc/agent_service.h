#pragma once
// The gRPC service agents dial: makes a reactor for each stream and hands it to the gateway.

#include <atomic>
#include <memory>

#include "hai/v1/agent.grpc.pb.h"

namespace hai {

class AgentGateway;
class KnownPeers;
class Loop;

class AgentService final : public v1::AgentService::CallbackService {
 public:
  // Agents that prove who they are with their hello only, those of versions that show their
  // token nowhere else: of so many a hello is awaited at once, since it may be as long as any
  // message.
  static constexpr int kStrangersMax = 16;

  // `wants_certificates`: an agent must prove by one that it is the node it says. `known` hears of
  // those that were accepted.
  AgentService(Loop& loop, AgentGateway& gateway, bool wants_certificates = false,
               KnownPeers* known = nullptr)
      : loop_(loop), gateway_(gateway), wants_certificates_(wants_certificates), known_(known) {}

  grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* Connect(
      grpc::CallbackServerContext* context) override;

 private:
  Loop& loop_;
  AgentGateway& gateway_;
  const bool wants_certificates_;
  KnownPeers* const known_;
  // Reactors may outlive the service.
  const std::shared_ptr<std::atomic<int>> strangers_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace hai
