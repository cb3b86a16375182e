// Identities of nodes.

#include "server/api/answers.h"
#include "server/api/operations.h"

namespace hai {

Prepared<v1::CreateJoinTokenReply> Operations::CreateJoinToken(const v1::CreateJoinTokenRequest&) {
  return unavailable("not there yet");
}

Prepared<v1::ListJoinTokensReply> Operations::ListJoinTokens(const v1::ListJoinTokensRequest&) {
  return unavailable("not there yet");
}

Prepared<v1::RevokeJoinTokenReply> Operations::RevokeJoinToken(const v1::RevokeJoinTokenRequest&) {
  return unavailable("not there yet");
}

Prepared<v1::NodeCertificate> Operations::JoinNode(const v1::JoinNodeRequest&) {
  return unavailable("not there yet");
}

Prepared<v1::ListNodeIdentitiesReply> Operations::ListNodeIdentities(const v1::ListNodeIdentitiesRequest&) {
  return unavailable("not there yet");
}

Prepared<v1::NodeIdentity> Operations::RevokeNodeIdentity(const v1::RevokeNodeIdentityRequest&) {
  return unavailable("not there yet");
}

}  // namespace hai
