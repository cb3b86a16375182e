#pragma once
// What the node's GPUs show, from the check that looks at them to the agent's reports. Any thread.

#include <mutex>
#include <utility>
#include <vector>

#include "common/agent_messages.h"

namespace hai {

class GpuReadingBoard {
 public:
  void set(std::vector<GpuReading> readings) {
    const std::lock_guard lock(mutex_);
    readings_ = std::move(readings);
  }
  std::vector<GpuReading> get() const {
    const std::lock_guard lock(mutex_);
    return readings_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<GpuReading> readings_;
};

}  // namespace hai
