#pragma once
// A number and what it counts, for people.

#include <cstdint>
#include <string>
#include <string_view>

namespace hai {

// "1 node", "2 nodes", "2 processes"; `thing` in the singular.
std::string count_of(int64_t count, std::string_view thing);

}  // namespace hai
