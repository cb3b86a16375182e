#pragma once
// hai::Status → grpc::Status: the codes are the same numbers. The message is a header, of which
// clients take 8 KiB in all.

#include <grpcpp/support/status.h>

#include <string>

#include "common/status.h"
#include "server/api/text_limits.h"

namespace hai {

inline grpc::Status to_grpc(const Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), shortened(status).message()};
}

inline std::string code_word(const grpc::Status& status) {
  return std::string(to_string(static_cast<Code>(status.error_code())));
}

}  // namespace hai
