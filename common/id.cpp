#include "common/id.h"

#include <fmt/core.h>

namespace hai {

std::string to_string(const RankKey& key) {
  return fmt::format("{}.{}.{}", key.job.value, key.attempt, key.rank);
}

}  // namespace hai
