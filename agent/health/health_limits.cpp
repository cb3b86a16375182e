#include "agent/health/health_limits.h"

namespace hai {

namespace {

constexpr LimitInfo kLimits[] = {
#define HAI_LIMIT(name, standard, low, high, meaning) \
  {#name, &HealthLimits::name, low, high, meaning},
    HAI_HEALTH_LIMITS(HAI_LIMIT)
#undef HAI_LIMIT
};

}  // namespace

std::span<const LimitInfo> limit_infos() { return kLimits; }

Status set_limit(HealthLimits& limits, std::string_view name, int64_t value) {
  for (const LimitInfo& info : kLimits) {
    if (name != info.name) continue;
    if (value < info.low || value > info.high) {
      return invalid_argument("{} must be {} to {}, is {}", name, info.low, info.high, value);
    }
    limits.*info.member = value;
    return ok();
  }
  return not_found("no limit {}", name);
}

}  // namespace hai
