#include "common/health.h"

namespace hai {

std::string_view to_string(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::ok:
      return "ok";
    case CheckVerdict::warn:
      return "warn";
    case CheckVerdict::fail:
      return "fail";
    case CheckVerdict::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view to_string(HealthTier tier) {
  switch (tier) {
    case HealthTier::log:
      return "log";
    case HealthTier::app:
      return "app";
    case HealthTier::validate:
      return "validate";
    case HealthTier::drain:
      return "drain";
    case HealthTier::evict:
      return "evict";
  }
  return "log";
}

}  // namespace hai
