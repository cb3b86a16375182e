#pragma once
// hai::Status ↔ grpc::Status: the codes are the same numbers.

#include <grpcpp/support/status.h>

#include "common/status.h"

namespace hai {

inline grpc::Status to_grpc(const Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), status.message()};
}

}  // namespace hai
