#pragma once
// How a machine that joins waits its turn when a thousand do at once, maybe all behind one address:
// the pauses grow and are drawn, so that those who were refused together do not come back together.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/rng.h"
#include "common/status.h"
#include "common/time.h"

namespace hai {

class JoinPatience {
 public:
  // With a server that says that it has too much to do, or is too slow to say so. Longer than it
  // holds the failures of others behind the same address against us.
  static constexpr Duration kBusy = 5min;
  static constexpr Duration kAway = 60s;  // with one that does not lead yet
  static constexpr Duration kPauseMax = 10s;

  explicit JoinPatience(uint64_t seed) : rng_(seed) {}

  // How long such an answer is borne; 0 = waiting will not change it.
  static Duration most(const Status& why) {
    if (why.code() == Code::unavailable) return kAway;
    const bool is_busy =
        why.code() == Code::resource_exhausted || why.code() == Code::deadline_exceeded;
    return is_busy ? kBusy : Duration{};
  }
  // The pause before the next try; nullopt = that is the last word, or patience is at its end.
  // `waited`: since the first try.
  std::optional<Duration> pause_after(const Status& why, Duration waited) {
    if (most(why) == Duration{}) return std::nullopt;
    const Duration pause(rng_.between(longest_.count() / 2, longest_.count()));
    longest_ = std::min(2 * longest_, kPauseMax);
    if (waited + pause > most(why)) return std::nullopt;
    return pause;
  }

 private:
  Rng rng_;
  Duration longest_ = 400ms;  // of the next pause
};

}  // namespace hai
