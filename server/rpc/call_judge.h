#pragma once
// Whether a call of gRPC is let in, by its head alone (call_guard.h): agents by their certificates
// and the secret of the cluster, people by their tokens, anyone where signing in or joining is
// asked. Any thread.

#include <set>
#include <string>
#include <string_view>

#include "server/api/identity_board.h"
#include "server/rpc/agent_gateway.h"
#include "server/rpc/call_guard.h"
#include "server/rpc/call_site.h"

namespace hai {

class CallJudge {
 public:
  struct Agents {
    bool wants_certificates = false;
    std::string secret;  // "" = there is none
  };
  CallJudge(const CallSite& site, const IdentityBoard& identities, AgentGateway& gateway,
            Agents agents);

  Status judge(const CallHead& head);
  // Their certificates prove enough: who has one and shows no secret needs none, but a wrong one is
  // refused.
  Status check_secret(std::string_view shown) const;

 private:
  Status judge_agent(const CallHead& head);

  const CallSite& site_;
  const IdentityBoard& identities_;
  AgentGateway& gateway_;
  const Agents agents_;
  const std::set<std::string, std::less<>> for_anyone_;  // "/hai.v1.Api/SignIn"
};

}  // namespace hai
