#pragma once
// Who this agent is, whatever its name: a random id, made once for a data directory and kept in
// DATA/instance. It survives restarts, upgrades and reboots. The server tells by it an agent that
// comes back from another one that bears the same name (server/control/nodes/agent_admission.h).

#include <string>

#include "common/status.h"

namespace hai {

// 32 hex digits. `machine` is kept beside it: on another machine, where the directory is a copy, a
// new id is made. "" = not known, which is no other one. An error if the file can't be written.
Result<std::string> find_or_make_instance(const std::string& data_dir, const std::string& machine);
// Writes nothing: a new one is known to nobody but who asks.
Result<std::string> instance_for_now(const std::string& data_dir, const std::string& machine);

}  // namespace hai
