#pragma once
// The whole-life state that a job begins with, as HAI's job files say it: kept as a variable of the
// job, and believed until its program sets another one.

namespace hai {

inline constexpr const char* kFirstLifeState = "HAI_WHOLE_LIFE_STATE";

}  // namespace hai
