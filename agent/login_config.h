#pragma once
// The keys `login` of the agent's config; only hai-pam heeds them.

#include "agent/login/login_settings.h"
#include "common/config/yaml_reader.h"

namespace hai {

void read_login(YamlReader& reader, LoginSettings* out);

}  // namespace hai
