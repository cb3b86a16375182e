#pragma once
// A port for a gang's rendezvous.

#include "common/id.h"

namespace hai {

// Below the ephemeral range, and different for neighbours in time.
inline int master_port(JobId job, int attempt) {
  return static_cast<int>(10'000 + (job.value * 131 + attempt * 17) % 20'000);
}

}  // namespace hai
