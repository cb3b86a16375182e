#pragma once
// The result of one run on one node, for people and for the platform.

#include <string>
#include <vector>

#include "validator/test.h"

namespace hai::validator {

struct Report {
  std::string node;
  std::string model;    // nodes of one model are compared with each other
  std::string profile;  // "quick" | "full": their numbers are not
  double seconds = 0;
  std::vector<Measurement> measurements;
};

// The line on stdout that the platform looks for is this and the JSON.
inline constexpr std::string_view kReportPrefix = "HAI-VALIDATION ";

// One line: {"node":…,"model":…,"profile":…,"verdict":…,"seconds":…,"tests":[{"name":…,…}]}
std::string format_json(const Report& report);
// For people, printed while the tests run: a test that hangs is the one after the last line.
std::string format_head(const Report& report);
std::string format_row(const Measurement& measurement);
std::string format_end(const Report& report);
Verdict verdict_of(const Report& report);  // fail if one failed; skipped if all were

}  // namespace hai::validator
