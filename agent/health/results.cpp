#include "agent/health/results.h"

namespace hai {

namespace {

CheckResult make(const CheckSubject& about, CheckVerdict verdict, HealthTier tier,
                 std::string summary, std::string evidence) {
  return {.name = about.name,
          .subject = about.subject,
          .verdict = verdict,
          .tier = tier,
          .summary = std::move(summary),
          .evidence = std::move(evidence),
          .gpus = about.gpus};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

CheckResult make_ok(const CheckSubject& about, std::string summary) {
  return make(about, CheckVerdict::ok, HealthTier::log, std::move(summary), {});
}

CheckResult make_unknown(const CheckSubject& about, std::string summary) {
  return make(about, CheckVerdict::unknown, HealthTier::log, std::move(summary), {});
}

CheckResult make_warn(const CheckSubject& about, std::string summary, std::string evidence) {
  return make(about, CheckVerdict::warn, HealthTier::log, std::move(summary), std::move(evidence));
}

CheckResult make_fail(const CheckSubject& about, HealthTier tier, std::string summary,
                      std::string evidence) {
  return make(about, CheckVerdict::fail, tier, std::move(summary), std::move(evidence));
}

std::string summary_kind(const std::string& summary) {
  std::string kind;
  bool in_number = false;
  for (const char c : summary) {
    const bool is_part = is_digit(c) || (in_number && (c == '.' || c == ','));
    if (is_part && !in_number) kind += '#';
    if (!is_part) kind += c;
    in_number = is_part;
  }
  return kind;
}

CheckSubject about_gpu(std::string name, int index) {
  GpuSet gpus;
  if (index >= 0 && index < GpuSet::kMax) gpus.bits = uint64_t{1} << index;
  return {.name = std::move(name), .subject = fmt::format("gpu {}", index), .gpus = gpus};
}

}  // namespace hai
