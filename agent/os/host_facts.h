#pragma once
// What this machine is, as far as the operating system says. Position, group and GPUs come from the
// agent's settings.

#include <string>
#include <vector>

#include "common/agent_messages.h"

namespace hai {

// The numbers of the CPUs that this process may use, increasing: fewer than the machine has where
// it runs in a cpuset or was bound to some.
std::vector<int> usable_cpus();

// Fills name, address (both the host's name), cpus, memory_bytes, numa_nodes, boot_id and
// machine (which only root can read; "" otherwise).
// `sys_root` and `proc_root` are "/sys" and "/proc", or stand-ins in tests.
NodeFacts gather_host_facts(const std::string& sys_root = "/sys",
                            const std::string& proc_root = "/proc");
// Unlike after each start of the machine; "" if it is not told.
std::string read_boot_id(const std::string& proc_root);

}  // namespace hai
