#pragma once
// Where this installation keeps the programs that the agent starts.

#include <string>

namespace hai {

// ../libexec/hai/NAME from the folder of the running program if it is there, as `cmake --install`
// puts those that no person calls; else NAME beside the running program, as in a build folder.
std::string helper_program(const std::string& name);

}  // namespace hai
