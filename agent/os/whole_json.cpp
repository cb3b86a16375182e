#include "agent/os/whole_json.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace hai {

int64_t whole(const nlohmann::json& json) {
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const bool is_whole =
      json.is_number_integer() && (!json.is_number_unsigned() || json.get<uint64_t>() <= kMax);
  if (!is_whole) throw std::out_of_range("not a whole number, or a very large one");
  return json.get<int64_t>();
}

int whole_int(const nlohmann::json& json) {
  const int64_t number = whole(json);
  if (!std::in_range<int>(number)) throw std::out_of_range("a very large number");
  return static_cast<int>(number);
}

}  // namespace hai
