#pragma once
// Plain mutations of texts with a seed, so that a failure can be repeated.

#include <string>
#include <vector>

#include "common/rng.h"

namespace hai {

inline const std::string& pick_from(Rng& rng, const std::vector<std::string>& from) {
  return from[rng.below(from.size())];
}

// Up to five changes: a piece put in, bytes cut, doubled or overwritten, a long run, the end lost.
inline std::string mutate_text(Rng& rng, std::string text, const std::vector<std::string>& pieces) {
  for (uint64_t changes = rng.below(6); changes > 0; --changes) {
    const size_t at = rng.below(text.size() + 1);
    switch (rng.below(7)) {
      case 0:
      case 1:
        text.insert(at, pick_from(rng, pieces));
        break;
      case 2:
        text.erase(at, rng.below(20));
        break;
      case 3:
        text.insert(at, text.substr(rng.below(text.size() + 1), rng.below(60)));
        break;
      case 4:
        if (at < text.size()) text[at] = static_cast<char>(rng.below(256));
        break;
      case 5:
        text.insert(at, std::string(rng.below(3'000), "[{a\"- &*\xff"[rng.below(9)]));
        break;
      default:
        if (rng.chance(0.3)) text.resize(at);
    }
  }
  return text;
}

}  // namespace hai
