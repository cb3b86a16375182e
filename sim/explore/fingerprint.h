#pragma once
// What tells one state of a small world from another, as one number. Times count from now, and only
// as far as they can still matter; numbers that only grow (sequences, epochs, versions) count from
// where they stand. Not in it: what only people read, and the budget.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "common/id.h"
#include "common/time.h"

namespace hai {

class Fingerprint {
 public:
  template <typename T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void add(T value) {
    value_ = (value_ ^ static_cast<uint64_t>(value)) * 0x9fb21c651e98df25u;
    value_ ^= value_ >> 29;
  }
  template <typename Tag>
  void add(Id<Tag> id) {
    add(id.value);
  }
  void add(Duration duration) { add(duration.count()); }
  void add(std::string_view text) {
    add(text.size());
    for (const char c : text) add(c);
  }
  // Of something that is finished after `most`, how far it is.
  void add_age(Duration age, Duration most) { add(std::min(age, most)); }

  uint64_t value() const { return (value_ ^ value_ >> 32) * 0xd6e8feb86659fd93u; }

 private:
  uint64_t value_ = 0x243f6a8885a308d3u;
};

class SmallWorld;
uint64_t fingerprint_of(const SmallWorld& world);

}  // namespace hai
