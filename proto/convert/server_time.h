#pragma once
// By how much a clock differs from a server's, which says its time in the trailing metadata of each
// call: hai-time-us, microseconds since 1970.

#include <grpcpp/client_context.h>

#include <optional>

#include "common/time.h"

namespace hai {

inline constexpr const char* kServerTimeKey = "hai-time-us";

// By how much, at least, the clock that read `asked` before the call and `answered` after it is
// ahead of the server's; 0 if they may be the same. nullopt: the server does not tell.
std::optional<Duration> clock_ahead(UnixTime asked, UnixTime answered,
                                    const grpc::ClientContext& finished);
// The same of a time that is known. Pure.
Duration clock_ahead(UnixTime asked, UnixTime answered, UnixTime server);

}  // namespace hai
