#include "server/rpc/api_service.h"

#include "server/auth/token.h"

namespace hai {

Caller caller_of(const grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto found = metadata.find("authorization");
  if (found == metadata.end()) return {};
  const std::string_view token = bearer_token({found->second.data(), found->second.size()});
  if (token.empty()) return {};
  return {.token_hash = hash_token(token)};
}

ApiService::ApiService(Parts parts)
    : loop_(parts.loop),
      admission_(parts.admission),
      site_{parts.loop, parts.standing, parts.admission, parts.meter},
      queries_(parts.queries),
      actions_(parts.actions),
      advisor_(parts.advisor),
      logs_(parts.logs),
      server_address_(std::move(parts.server_address)) {}

}  // namespace hai
