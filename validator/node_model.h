#pragma once
// What kind of machine this is: nodes with the same text are expected to perform alike.

#include <string>

namespace hai::validator {

// "AMD EPYC 7742 64-Core Processor x256, 512 GiB, 8 x NVIDIA A100-PCIE-40GB"
std::string node_model(const std::string& sys_root, const std::string& proc_root);

}  // namespace hai::validator
