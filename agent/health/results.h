#pragma once
// Short ways to say what a check found.

#include <string>
#include <string_view>
#include <utility>

#include "common/health.h"

namespace hai {

// What a result is about.
struct CheckSubject {
  std::string name;
  std::string subject;
  GpuSet gpus;
};

// What is not well, and what a person should do about it.
struct CheckFinding {
  std::string summary;
  std::string remedy;         // "none" = nothing is to be done
  std::string evidence = {};  // lines as they were read
};

CheckResult make_ok(const CheckSubject& about, std::string summary);
CheckResult make_unknown(const CheckSubject& about, const CheckFinding& finding);
CheckResult make_warn(const CheckSubject& about, const CheckFinding& finding);
CheckResult make_fail(const CheckSubject& about, HealthTier tier, const CheckFinding& finding);

// "3 GPUs, expected 4; remedy: reboot": the text of every result that is not ok.
std::string with_remedy(std::string_view summary, std::string_view remedy);
inline constexpr std::string_view kRemedyMark = "; remedy: ";

// The summary without its numbers: what a result says, whatever the reading of the moment.
std::string summary_kind(const std::string& summary);

std::string gpu_subject(int index);  // "gpu 3"
// About that GPU alone.
CheckSubject about_gpu(std::string name, int index);

}  // namespace hai
