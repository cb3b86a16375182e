#include "server/rpc/call_judge.h"

#include <utility>

#include "proto/json/call_options.h"
#include "server/auth/token.h"

namespace hai {

CallJudge::CallJudge(const CallSite& site, const IdentityBoard& identities, AgentGateway& gateway,
                     Agents agents)
    : site_(site),
      identities_(identities),
      gateway_(gateway),
      agents_(std::move(agents)),
      for_anyone_(paths_for_anyone()) {}

Status CallJudge::check_secret(std::string_view shown) const {
  const bool has_secret = !agents_.secret.empty();
  if (!has_secret && !agents_.wants_certificates) {
    return unauthenticated(
        "agents cannot prove who they are: this server has neither a token of theirs nor a CA of "
        "their certificates");
  }
  if (agents_.wants_certificates && shown.empty()) return ok();
  if (!has_secret || equal_secrets(shown, agents_.secret)) return ok();
  return unauthenticated("the agent token is not this cluster's");
}

// Agents of a version that shows its token with the hello only are judged by that.
Status CallJudge::judge_agent(const CallHead& head) {
  Status proof = ok();
  if (agents_.wants_certificates && head.nodes.empty()) {
    proof = permission_denied(
        "an agent shows no certificate of a node: give it one (hai-server ca issue --node NAME)");
  } else if (head.certificate_begins && head.nodes.size() == 1) {
    proof = identities_.admit(head.nodes.front(), *head.certificate_begins);
  }
  if (proof.is_ok() && !head.authorization.empty()) {
    proof = check_secret(bearer_token(head.authorization));
  }
  if (!proof.is_ok()) {
    gateway_.note_stranger(head.nodes.empty() ? "" : head.nodes.front(),
                           site_.known.hosts_of_strangers(), proof);
  }
  return proof;
}

Status CallJudge::judge(const CallHead& head) {
  const bool is_of_agents = head.method.starts_with("/hai.v1.AgentService/") ||
                            head.method.starts_with("/hai.v1.NodeShells/");
  if (is_of_agents) return judge_agent(head);
  if (for_anyone_.contains(head.method)) return ok();
  const Caller caller = caller_of(head.authorization);
  const Status admitted = site_.callers.admit(caller);
  if (admitted.is_ok()) {
    if (site_.callers.knows_people() || site_.unread.begin(site_.loop.now())) return admitted;
    return unavailable("this server does not lead, and too many calls here are not sent whole");
  }
  site_.meter.note("", "refused", std::string(to_string(admitted.code())), 0);
  site_.audit.note({.caller = caller,
                    .address = site_.known.hosts_of_strangers(),
                    .name = audited_name(head.method),
                    .facts = {}},
                   admitted);
  return admitted;
}

}  // namespace hai
