#pragma once
// hai rerun.

#include "server/control/verbs/submit.h"

namespace hai {

// The spec of its successor: as it is now, with the dependencies that were not met when it ended.
JobSpec spec_to_rerun(const Job& old);

}  // namespace hai
