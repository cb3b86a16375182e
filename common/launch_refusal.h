#pragma once
// How a server tells an agent that a rank cannot be launched, and why: a variable that no job can
// have, with the reason as its value. An agent that does not know it refuses it as a variable that
// cannot be set, so nothing is started there either.

#include <string_view>

namespace hai {

inline constexpr std::string_view kLaunchRefusal = "=launch_refused";

// Goes with each launch in an image, for agents of before images: they would start the program
// outside of it. They refuse this variable by its name, which their message shows; others drop it.
inline constexpr std::string_view kNeedsImages = "=image: this hai-agent is too old for images";

}  // namespace hai
