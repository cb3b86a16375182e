#pragma once
// What the agent tells `hai-shim --shell RANKDIR`, which becomes a program beside those of the rank
// (agent/shim/shell_entry.h).

#include <string>
#include <string_view>

#include "common/shell_messages.h"
#include "common/status.h"

namespace hai {

// Descriptors that it is born with beside the program's three: a file with what is asked, as JSON;
// and a pipe that ends without a word when the program runs, or else with why it does not.
inline constexpr int kShellRequestFd = 3;
inline constexpr int kShellComplaintFd = 4;
inline constexpr size_t kShellFileBytesMax = 8 * kShellArgvBytesMax;

std::string shell_program_to_json(const ShellProgram& program);
Result<ShellProgram> shell_program_from_json(std::string_view text);

}  // namespace hai
