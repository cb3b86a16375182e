#pragma once
// The words for values of the model that people say and see, in the order of the enumerations.

#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "common/health.h"
#include "common/job_service.h"
#include "common/status.h"
#include "server/model/node_health.h"
#include "server/model/reason.h"
#include "server/model/states.h"
#include "server/plan/whatif.h"

namespace hai {

// All enumerators from one to another.
template <typename Enum>
struct Words {
  Enum first;
  Enum last;

  std::vector<std::string_view> all() const {
    std::vector<std::string_view> words;
    for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i) {
      words.push_back(to_string(static_cast<Enum>(i)));
    }
    return words;
  }

  // invalid_argument that names `what` and the words, if the text is none of them.
  Result<Enum> read(std::string_view what, const std::string& text) const {
    for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i) {
      if (to_string(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
    }
    return invalid_argument("{}: {} is none of {}", what, text.substr(0, 100),
                            fmt::join(all(), ", "));
  }
};

template <typename Enum>
Words(Enum, Enum) -> Words<Enum>;  // which clang 16 does not find out by itself

// The scope of tokens that lets its user be all that he is.
constexpr TokenScope widest_scope(Role role) {
  switch (role) {
    case Role::user:
      return TokenScope::submit;
    case Role::operator_:
      return TokenScope::operate;
    case Role::admin:
      break;
  }
  return TokenScope::admin;
}

inline constexpr Words kJobStates{JobState::queued, JobState::stopped};
inline constexpr Words kAttemptStates{AttemptState::placed, AttemptState::lost};
inline constexpr Words kPendingCodes{PendingCode::held, PendingCode::not_considered};
inline constexpr Words kLivenesses{Liveness::up, Liveness::down};
inline constexpr Words kSchedulings{Scheduling::open, Scheduling::drained};
inline constexpr Words kVerdicts{CheckVerdict::ok, CheckVerdict::unknown};
inline constexpr Words kRoles{Role::user, Role::admin};
inline constexpr Words kTokenScopes{TokenScope::read, TokenScope::admin};
inline constexpr Words kRepairSteps{RepairStep::emptying, RepairStep::service};
inline constexpr Words kServiceProtocols{JobService::Kind::http, JobService::Kind::tcp};
inline constexpr Words kEffects{Effect::starts, Effect::keeps_running};

}  // namespace hai
