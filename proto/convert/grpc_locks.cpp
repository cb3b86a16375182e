#include "proto/convert/grpc_locks.h"

#include <absl/synchronization/mutex.h>

namespace hai {

void leave_grpc_locks_unchecked() {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

}  // namespace hai
