#pragma once
// What a call is about, for the audit log: short texts. Never the value of a secret, an environment
// or a token.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace hai {

// How it went for some of the things that a call was about.
struct AuditOutcome {
  Status status;
  std::string target;
  std::optional<int64_t> job = {};  // of a submit that was taken
  std::string detail = {};          // beside that of the call
};

struct AuditFacts {
  std::string user;    // who it turned out to be, of a sign-in
  std::string target;  // "job/17"
  std::string detail;  // the verb, and what else is worth a few words
  // Of many things at once, or of what was made, once it is answered; else the call's own status
  // holds for its target.
  std::vector<AuditOutcome> outcomes;
};

inline constexpr size_t kAuditTargetBytesMax = 300;

// "job/17"; "" stays "".
std::string audit_target(std::string_view kind, std::string_view name);
// "job/17, job/18"; where that is long, its beginning and "and 412 more".
std::string audit_targets(const std::vector<std::string>& targets);

}  // namespace hai
