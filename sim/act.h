#pragma once
// One act of a user or operator of the simulated cluster, as a value. Jobs are called by the number
// of their request, so that an act means the same job whatever happened before.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/job_spec.h"

namespace hai {

enum class ActKind {
  ask,  // only ask again for what has had no answer; every act begins so
  submit,
  users,  // the administrator makes the users
  quota,
  stop,
  suspend,
  resume,
  hold,
  release,
  priority,
  cordon,
  drain,
  undrain,
  remove,
  knob,
};
constexpr int kActKinds = static_cast<int>(ActKind::knob) + 1;
std::string_view to_string(ActKind kind);

struct Act {
  ActKind kind = ActKind::ask;
  int job = 0;  // number of its request; 0 = the job with id 1, whoever submitted it
  int node = 0;
  std::string user;                     // who submits, or whose quota
  Priority level = Priority::normal;    // of a quota, or the new one of a job
  int64_t nodes = 0;                    // of a quota; which of kTurns a knob act does
  std::shared_ptr<const JobSpec> spec;  // of a submit
};

}  // namespace hai
