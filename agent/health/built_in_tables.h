#pragma once
// deploy/health/*.csv as they were when this was built.

#include <string_view>

namespace hai {

std::string_view built_in_xid_table();
std::string_view built_in_kernel_table();

}  // namespace hai
