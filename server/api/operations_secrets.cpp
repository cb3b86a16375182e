// Secrets of users.

#include "server/api/answers.h"
#include "server/api/operations.h"

namespace hai {

Prepared<v1::ListSecretsReply> Operations::ListSecrets(const v1::ListSecretsRequest&) {
  return unavailable("not there yet");
}

Prepared<v1::Secret> Operations::SetSecret(const v1::SetSecretRequest&) {
  return unavailable("not there yet");
}

Prepared<v1::DeleteSecretReply> Operations::DeleteSecret(const v1::DeleteSecretRequest&) {
  return unavailable("not there yet");
}

}  // namespace hai
