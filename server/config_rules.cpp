#include "server/config_rules.h"

namespace hai {

SignInDesk::Rules sign_in_rules(const ServerConfig& config) {
  return {.token_ttl = config.token_ttl,
          .token_ttl_max = config.token_ttl_max,
          .munge_creates_users = config.munge_creates_users};
}

OpenStreams::Limits stream_limits(const ServerConfig& config) {
  return {.per_user = static_cast<size_t>(config.streams_per_user)};
}

}  // namespace hai
