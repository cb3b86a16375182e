#include "common/count_of.h"

#include <fmt/core.h>

namespace hai {

std::string count_of(int64_t count, std::string_view thing) {
  const std::string_view ending = count == 1 ? "" : thing.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", count, thing, ending);
}

}  // namespace hai
