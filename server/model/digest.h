#pragma once
// A 64-bit digest of events: two runs that decided the same have the same digest, on every machine.

#include <cstdint>

#include "server/model/event.h"

namespace hai {

// FNV-1a over kind, time, actor and all fields, chained from `previous`.
uint64_t digest(uint64_t previous, const Event& event);

inline constexpr uint64_t kDigestStart = 14695981039346656037ULL;

}  // namespace hai
