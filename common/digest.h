#pragma once
// An incremental 64-bit hash (FNV-1a) for determinism digests: two runs of one seed must end with
// the same value. Each add() also hashes the length of a text, so that ("ab","c") and ("a","bc")
// differ. Not for secrets.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/id.h"
#include "common/time.h"

namespace hai {

class Digest {
 public:
  Digest& add(std::string_view text) {
    add_word(text.size());
    for (const char c : text) add_byte(static_cast<unsigned char>(c));
    return *this;
  }
  Digest& add(const char* text) { return add(std::string_view(text)); }
  template <typename T>
  requires(std::integral<T> || std::is_enum_v<T>) Digest& add(T value) {
    add_word(static_cast<uint64_t>(value));
    return *this;
  }
  template <typename Tag>
  Digest& add(Id<Tag> id) {
    return add(id.value);
  }
  Digest& add(Duration duration) { return add(duration.count()); }
  Digest& add(UnixTime time) { return add(to_micros(time)); }
  Digest& add(MonoTime time) { return add(time.time_since_epoch().count()); }

  uint64_t value() const { return value_; }
  std::string hex() const { return fmt::format("{:016x}", value_); }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }
  void add_word(uint64_t word) {
    for (int shift = 0; shift < 64; shift += 8) add_byte(static_cast<unsigned char>(word >> shift));
  }

  uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace hai
