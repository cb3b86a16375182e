#pragma once
// What the config says, as the parts of the server want to hear it: when they are made, and again
// when it is reloaded.

#include "server/api/open_streams.h"
#include "server/api/sign_in.h"
#include "server/server_config.h"

namespace hai {

SignInDesk::Rules sign_in_rules(const ServerConfig& config);
OpenStreams::Limits stream_limits(const ServerConfig& config);

}  // namespace hai
