#pragma once
// What a job may wait for of another one, and how job files, `hai run --after` and `sbatch
// --dependency` write it: "7", "prep", "afterany:prep", "singleton".

#include <string>
#include <string_view>

#include "common/status.h"

namespace hai {

enum class DependencyCondition {
  afterok,     // it has succeeded
  afterany,    // it has ended, however
  afternotok,  // it has failed or was stopped
  after,       // it has started, or ended without
  singleton,   // it has ended; it is an earlier one of the same user and name
  aftercorr,   // of two arrays: each task's counterpart, of the same index, has succeeded
};
std::string_view to_string(DependencyCondition condition);  // "afterok", …
inline constexpr std::string_view kDependencyConditions =
    "afterok, afterany, afternotok, after, aftercorr or singleton";

// One word of options.depends_on.
struct DependencyWord {
  DependencyCondition condition = DependencyCondition::afterok;
  std::string job;  // an id or a name; "" of singleton
  bool operator==(const DependencyWord&) const = default;
};

// "JOB" means afterok. invalid_argument says what is wrong with the word; whether there is such a
// job is for the server to know.
Result<DependencyWord> parse_dependency(std::string_view word);
// The shortest word that means the same: "7" for afterok.
std::string format_dependency(const DependencyWord& dependency);

}  // namespace hai
