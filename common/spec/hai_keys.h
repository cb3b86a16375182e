#pragma once
// Keys of HAI's own version 2 files that this system does not have. Private to common/spec.

#include <span>
#include <string_view>

namespace hai {

struct HaiKey {
  std::string_view path;
  std::string_view instead;
};
std::span<const HaiKey> unsupported_hai_keys();

}  // namespace hai
