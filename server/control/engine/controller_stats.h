#pragma once
// What a controller has done since its process began, for metrics.

#include <array>
#include <cstdint>

#include "common/time.h"

namespace hai {

struct ControllerStats {
  int64_t turns = 0;
  int64_t inputs = 0;
  int64_t events = 0;
  int64_t passes = 0;
  int64_t orders = 0;
  int64_t reports = 0;
  int64_t step_downs = 0;
  int64_t terms = 0;  // won
  Duration last_pass{0};
  Duration last_append{0};
  // Appends by how long they took: counts of those up to each of the bounds, the last one has none.
  static constexpr std::array kAppendBounds{1ms, 2ms, 5ms, 10ms, 20ms, 50ms, 100ms, 500ms, 2'000ms};
  std::array<int64_t, kAppendBounds.size() + 1> appends{};
  Duration appends_total{0};
  // Planning passes in the same way.
  static constexpr std::array kPassBounds{100us,    200us,     500us,    1'000us,
                                          2'000us,  5'000us,   10'000us, 20'000us,
                                          50'000us, 100'000us, 500'000us};
  std::array<int64_t, kPassBounds.size() + 1> pass_lengths{};
  Duration passes_total{0};

  void note_append(Duration length) {
    last_append = length;
    appends_total += length;
    ++appends[bucket_of(kAppendBounds, length)];
  }
  void note_pass(Duration length) {
    ++passes;
    last_pass = length;
    passes_total += length;
    ++pass_lengths[bucket_of(kPassBounds, length)];
  }

 private:
  // The first bound that is not exceeded; behind the last one if all are.
  template <typename Bounds>
  static size_t bucket_of(const Bounds& bounds, Duration length) {
    size_t bucket = 0;
    while (bucket < bounds.size() && length > Duration(bounds[bucket])) ++bucket;
    return bucket;
  }
};

}  // namespace hai
