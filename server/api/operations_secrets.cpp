// Secrets of users.

#include "server/api/actions.h"
#include "server/api/answers.h"
#include "server/api/launch_secrets.h"
#include "server/api/operations.h"
#include "server/api/queries.h"

namespace hai {

namespace {

// It becomes the value of an environment variable.
Status check_value(const std::string& value) {
  if (value.empty() || value.size() > kSecretBytesMax) {
    return invalid_argument("value: {} bytes, allowed is 1 to {}", value.size(), kSecretBytesMax);
  }
  if (value.find('\0') != std::string::npos) {
    return invalid_argument("value: has a NUL byte, which no environment variable can hold");
  }
  return ok();
}

}  // namespace

Prepared<v1::ListSecretsReply> OperationBodies::ListSecrets(const v1::ListSecretsRequest& request) {
  return [this, user = request.user()](const Caller& caller, Answer<v1::ListSecretsReply> answer) {
    parts_.queries.list_secrets(
        caller, user,
        answer_with<std::vector<hai::Secret>>(
            answer, [](const std::vector<hai::Secret>& secrets, v1::ListSecretsReply& reply) {
              add_all(secrets, reply.mutable_secrets());
            }));
  };
}

Prepared<v1::Secret> OperationBodies::SetSecret(const v1::SetSecretRequest& request) {
  if (Status status = check_value(request.value()); !status.is_ok()) return status;
  return [this, name = request.name(), value = std::make_shared<const WipedText>(request.value())](
             const Caller& caller, Answer<v1::Secret> answer) {
    parts_.actions.set_secret(
        caller, name, value,
        answer_with<hai::Secret>(
            answer, [](const hai::Secret& secret, v1::Secret& reply) { to_proto(secret, reply); }));
  };
}

Prepared<v1::DeleteSecretReply> OperationBodies::DeleteSecret(
    const v1::DeleteSecretRequest& request) {
  return [this, name = request.name(), user = request.user()](
             const Caller& caller, Answer<v1::DeleteSecretReply> answer) {
    parts_.actions.remove_secret(caller, user, name, answer_done(answer));
  };
}

}  // namespace hai
