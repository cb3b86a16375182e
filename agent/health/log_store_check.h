#pragma once
// Whether the log store takes the logs of this node's ranks. Their agent finds out as it brings
// them there; the check only passes it on.

#include <functional>

#include "agent/health/check.h"
#include "common/status.h"

namespace hai {

class LogStoreCheck final : public Check {
 public:
  // `status` is how the store is doing, asked for on the check's thread.
  explicit LogStoreCheck(std::function<Status()> status)
      : Check("log_store", {.period = 10s, .deadline = 5s}), status_(std::move(status)) {}
  std::vector<CheckResult> run(const CheckInput& input) override;

 private:
  std::function<Status()> status_;
};

}  // namespace hai
