#pragma once
// A small random generator whose numbers are the same on every machine and compiler (xoshiro256**,
// seeded by splitmix64), so that a seed reproduces a run. The standard distributions promise no
// such thing. Not for secrets.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "common/check.h"

namespace hai {

class Rng {
 public:
  explicit Rng(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15u;
      uint64_t mixed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
      word = mixed ^ (mixed >> 31);
    }
  }

  uint64_t next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // 0 <= result < n, each equally likely; n > 0.
  uint64_t below(uint64_t n) {
    CHECK(n > 0);
    // Draws under the threshold would favour small results; at most every second one is thrown
    // away.
    const uint64_t threshold = (uint64_t{0} - n) % n;
    uint64_t draw = next();
    while (draw < threshold) draw = next();
    return draw % n;
  }

  // low <= result <= high
  int64_t between(int64_t low, int64_t high) {
    CHECK(low <= high);
    const uint64_t width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    const uint64_t offset = width == UINT64_MAX ? next() : below(width + 1);
    return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
  }

  // 0 <= result < 1, a multiple of 2^-53.
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return unit() < probability; }

  template <typename Container>
  auto& pick(Container& items) {
    return items[static_cast<size_t>(below(std::size(items)))];
  }

  template <typename Container>
  void shuffle(Container& items) {
    for (size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<size_t>(below(i))]);
    }
  }

  // An independent generator, so that one consumer's extra draw does not move the others.
  Rng fork() { return Rng(next()); }

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace hai
