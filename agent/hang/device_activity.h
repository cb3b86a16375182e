#pragma once
// What a node's GPUs and ports do over a second: whether those who wait spin, and whether anything
// still comes over the network.

#include <string>

namespace hai {

// Waits a second between its looks. May hang where a driver does: run it in a child.
std::string describe_device_activity(const std::string& sys_root, const std::string& nvml_library);

}  // namespace hai
