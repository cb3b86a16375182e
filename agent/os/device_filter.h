#pragma once
// Holds all processes of a cgroup v2 to the devices of a list: by a small program in the kernel
// (BPF_PROG_TYPE_CGROUP_DEVICE), since v2 has no controller for it. It stays as long as the group.

#include <linux/bpf.h>

#include <string>
#include <vector>

#include "agent/os/device_rules.h"
#include "common/status.h"

namespace hai {

// Answers 1 to a read or write of a listed device and 0 to everything else, making nodes included.
std::vector<bpf_insn> device_program(const std::vector<DeviceRule>& rules);

Status filter_devices(const std::string& cgroup, const std::vector<DeviceRule>& rules);

}  // namespace hai
