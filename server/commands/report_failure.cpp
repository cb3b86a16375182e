#include <cstdio>

#include "server/commands/command.h"

namespace hai {

int report_failure(const Status& status) {
  fmt::print(stderr, "hai-server: {}\n", status.message());
  return status.code() == Code::invalid_argument ? kExitUsage : kExitError;
}

}  // namespace hai
