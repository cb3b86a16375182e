#pragma once
// The keys `isolation` and `confinement` of the agent's config.

#include "agent/os/confinement.h"
#include "common/config/yaml_reader.h"

namespace hai {

void read_confinement(YamlReader& reader, ConfinementSettings* out);

}  // namespace hai
