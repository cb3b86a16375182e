#pragma once
// A variable of a job's environments whose value is for its ranks alone. A job file says it as
// `NAME: {secret: VALUE}`; on the way to the server the value has the first mark, and the server
// puts the sealed text and the second one in its place before the job is stored
// (server/api/sealed_environments.h).

#include <string_view>

namespace hai {

inline constexpr std::string_view kToSealMark = "hai-to-seal:";
inline constexpr std::string_view kSealedMark = "hai-sealed:";

}  // namespace hai
