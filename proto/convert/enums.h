#pragma once
// Enumerations ↔ protobuf through one table each, so that both ways always agree. An unknown number
// (a newer peer) is invalid_argument.

#include <array>
#include <string_view>

#include "common/status.h"

namespace hai {

template <typename Plain, typename Proto, size_t n>
struct EnumMap {
  std::string_view field;
  std::array<std::pair<Plain, Proto>, n> pairs;

  Proto to_proto(Plain value) const {
    for (const auto& [plain, proto] : pairs) {
      if (plain == value) return proto;
    }
    return Proto{};  // 0, "unspecified"
  }
  Status from_proto(Proto value, Plain& out) const {
    for (const auto& [plain, proto] : pairs) {
      if (proto == value) {
        out = plain;
        return ok();
      }
    }
    return invalid_argument("{} has the unknown value {}", field, static_cast<int>(value));
  }
};

}  // namespace hai
