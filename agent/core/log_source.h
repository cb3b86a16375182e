#pragma once
// Where an agent finds the logs of its ranks. Production: agent/os. Called on the loop thread.

#include "common/log_messages.h"

namespace hai {

class LogSource {
 public:
  virtual ~LogSource() = default;
  // Reads what is there, at once: `request.wait` is the caller's business (agent/rpc/log_waiter
  // asks again until there is data, `end`, an error, or the time is over). An unknown rank is an
  // error in the chunk.
  virtual LogChunk read(const LogRequest& request) = 0;
};

}  // namespace hai
