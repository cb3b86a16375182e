#include "cli/exit_code.h"

namespace hai::cli {

int exit_code_of(const Status& status) {
  switch (status.code()) {
    case Code::ok:
      return kOk;
    case Code::not_found:
      return kNotFound;
    case Code::invalid_argument:
    case Code::already_exists:
    case Code::permission_denied:
    case Code::resource_exhausted:
    case Code::failed_precondition:
    case Code::out_of_range:
    case Code::unauthenticated:
      return kRefused;
    case Code::unavailable:
    case Code::deadline_exceeded:
      return kUnreachable;
    case Code::cancelled:
    case Code::unknown:
    case Code::aborted:
    case Code::unimplemented:
    case Code::internal:
    case Code::data_loss:
      return kError;
  }
  return kError;
}

int exit_code_of_job(std::string_view state, std::optional<int> exit_code) {
  if (state == "succeeded") return exit_code.value_or(kOk);
  if (exit_code.value_or(0) != 0) return *exit_code;
  return state == "stopped" ? kInterrupted : kError;
}

}  // namespace hai::cli
