#pragma once
// Judges each call by what comes before its message: gRPC reads a message of up to 4 MB before it
// shows a call to anybody, and holds what has come of it. Whoever is refused here costs nothing.

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "common/time.h"

namespace hai {

struct CallHead {
  std::string_view method;                     // "/hai.v1.Api/WhoAmI"
  std::string_view authorization;              // "Bearer TOKEN"; "" = none
  std::vector<std::string> nodes;              // that the caller's certificate names
  std::optional<UnixTime> certificate_begins;  // of a certificate that names nodes
};

// Called on gRPC's threads. An error is the call's answer.
using CallGuard = std::function<Status(const CallHead&)>;

// Asks the guard for each call over these credentials, which have not been used yet.
void guard_calls(grpc::ServerCredentials& credentials, CallGuard guard);

// Plain text, with a guard: gRPC's own class for plain text takes none.
std::shared_ptr<grpc::ServerCredentials> plain_credentials(CallGuard guard);

}  // namespace hai
