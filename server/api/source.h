#pragma once
// A stream of values that is pulled: whoever wants the next one asks for it when he is ready, so no
// queue and no slow reader can grow. On the loop's thread.

#include <functional>
#include <optional>

#include "common/status.h"

namespace hai {

template <typename T>
using Done = std::function<void(Result<T>)>;

// Answers once per call, later or at once; nullopt is the end, an error too. Not called again
// before it has answered. Dropping the source drops an answer that is still to come.
template <typename T>
using Source = std::function<void(Done<std::optional<T>>)>;

}  // namespace hai
