#pragma once
// The section "knobs" of a config file: every knob by its name.

#include "common/config/yaml_reader.h"
#include "common/knobs.h"

namespace hai {

// Ranges and relations between knobs are checked too; errors end up in `reader`.
void read_knobs(YamlReader& reader, Knobs* knobs);

}  // namespace hai
