#pragma once
// How a server tells an agent that a rank cannot be launched, and why: a variable that no job can
// have, with the reason as its value. An agent that does not know it refuses it as a variable that
// cannot be set, so nothing is started there either.

#include <string_view>

namespace hai {

inline constexpr std::string_view kLaunchRefusal = "=launch_refused";

}  // namespace hai
