#pragma once
// The servers that an agent may go to: those of its config, then those that the cluster has told
// it.

#include <string>
#include <vector>

namespace hai {

inline constexpr size_t kServersMax = 16;  // of a config, and as many that were told

// Without those that are no host:port, twice there, or too many; and without other machines if the
// config names none: what is said to this one's need not be encrypted.
std::vector<std::string> all_servers(std::vector<std::string> configured,
                                     const std::vector<std::string>& told);

}  // namespace hai
