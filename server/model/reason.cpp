#include "server/model/reason.h"

namespace hai {

std::string_view to_string(PendingCode code) {
  switch (code) {
    case PendingCode::held:
      return "held";
    case PendingCode::begin_time:
      return "begin_time";
    case PendingCode::backoff:
      return "backoff";
    case PendingCode::dependency:
      return "dependency";
    case PendingCode::dependency_failed:
      return "dependency_failed";
    case PendingCode::user_inactive:
      return "user_inactive";
    case PendingCode::array:
      return "array";
    case PendingCode::quota:
      return "quota";
    case PendingCode::resources:
      return "resources";
    case PendingCode::preempting:
      return "preempting";
    case PendingCode::starting:
      return "starting";
    case PendingCode::recovering:
      return "recovering";
    case PendingCode::not_considered:
      return "not_considered";
  }
  return "not_considered";
}

}  // namespace hai
