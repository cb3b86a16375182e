#include "agent/health/results.h"

#include "common/ascii.h"

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
          .gpus = about.gpus,
          .said_kind = check_kind_of(about.name)};
}

CheckResult make_bad(const CheckSubject& about, CheckVerdict verdict, HealthTier tier,
                     const CheckFinding& finding) {
  return make(about, verdict, tier, with_remedy(finding.summary, finding.remedy), finding.evidence);
}

}  // namespace

CheckResult make_ok(const CheckSubject& about, std::string summary) {
  return make(about, CheckVerdict::ok, HealthTier::log, std::move(summary), {});
}

CheckResult make_unknown(const CheckSubject& about, const CheckFinding& finding) {
  return make_bad(about, CheckVerdict::unknown, HealthTier::log, finding);
}

CheckResult make_warn(const CheckSubject& about, const CheckFinding& finding) {
  return make_bad(about, CheckVerdict::warn, HealthTier::log, finding);
}

CheckResult make_fail(const CheckSubject& about, HealthTier tier, const CheckFinding& finding) {
  return make_bad(about, CheckVerdict::fail, tier, finding);
}

std::string with_remedy(std::string_view summary, std::string_view remedy) {
  return fmt::format("{}{}{}", summary, kRemedyMark, remedy);
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

std::string gpu_subject(int index) { return fmt::format("gpu {}", index); }

CheckSubject about_gpu(std::string name, int index) {
  GpuSet gpus;
  if (index >= 0 && index < GpuSet::kMax) gpus.bits = uint64_t{1} << index;
  return {.name = std::move(name), .subject = gpu_subject(index), .gpus = gpus};
}

}  // namespace hai
