#pragma once
// Short ways to say what a check found.

#include <string>
#include <utility>

#include "common/health.h"

namespace hai {

// What a result is about.
struct CheckSubject {
  std::string name;
  std::string subject;
  GpuSet gpus;
};

CheckResult make_ok(const CheckSubject& about, std::string summary);
CheckResult make_unknown(const CheckSubject& about, std::string summary);
CheckResult make_warn(const CheckSubject& about, std::string summary, std::string evidence = {});
CheckResult make_fail(const CheckSubject& about, HealthTier tier, std::string summary,
                      std::string evidence = {});

// The summary without its numbers: what a result says, whatever the reading of the moment.
std::string summary_kind(const std::string& summary);

// "gpu 3", about that GPU alone.
CheckSubject about_gpu(std::string name, int index);

}  // namespace hai
