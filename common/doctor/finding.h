#pragma once
// What `hai doctor` and the doctors of hai-server and hai-agent find: one line per thing that was
// looked at, with what to do about it. Written as JSON, so that one doctor can show what another
// one found.

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai {

enum class Verdict { ok, warn, fail };
std::string_view to_string(Verdict verdict);

struct Finding {
  std::string part;   // whose setup it is about: "server", "agent", "client"
  std::string check;  // "disk", "clock", ...
  Verdict verdict = Verdict::ok;
  std::string found;
  std::string remedy;  // "" if it is ok
  bool operator==(const Finding&) const = default;
};

// `part` and `check` are filled in by run_checks().
Finding all_well(std::string found);
Finding warning(std::string found, std::string remedy);
Finding failure(std::string found, std::string remedy);

// An array of objects {part, check, verdict, found, remedy}, one per line.
std::string format_findings(const std::vector<Finding>& findings);
// The reverse; `invalid_argument` for anything else.
Result<std::vector<Finding>> parse_findings(std::string_view json);

// For people: a line each, the remedy below it.
std::string describe_findings(const std::vector<Finding>& findings);

// 0, or 1 if one of them is a failure.
int exit_code_of(const std::vector<Finding>& findings);

}  // namespace hai
