#pragma once
// The gRPC service agents dial: makes a reactor for each stream and hands it to the gateway.

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "common/status.h"
#include "common/time.h"
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

  // A certificate and the CAs of the cluster for the node, whose certificate begins then. Called on
  // the loop's thread, as `done` is. Set before the first call.
  using Renewed = std::function<void(Result<v1::RenewReply>)>;
  using RenewIt = std::function<void(const std::string& node, UnixTime begins,
                                     const std::string& request, Renewed done)>;
  void set_renewal(RenewIt renew) { renew_ = std::move(renew); }

  grpc::ServerBidiReactor<v1::AgentMessage, v1::ServerMessage>* Connect(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* Renew(grpc::CallbackServerContext* context,
                                  const v1::RenewRequest* request, v1::RenewReply* reply) override;

 private:
  Loop& loop_;
  AgentGateway& gateway_;
  const bool wants_certificates_;
  KnownPeers* const known_;
  RenewIt renew_;
  // Reactors may outlive the service.
  const std::shared_ptr<std::atomic<int>> strangers_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace hai
