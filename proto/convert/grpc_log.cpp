#include "proto/convert/grpc_log.h"

#include <grpc/support/log.h>

#include <cstdlib>

namespace hai {

void keep_grpc_silent() {
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace hai
