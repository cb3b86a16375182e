#pragma once
// What admission asks of a job, where others ask it too.

#include "server/control/verbs/decide.h"

namespace hai {

// invalid_argument if the nodes of its group could never run it together, or none is large enough.
Status check_room(const ClusterState& state, const JobSpec& spec);
// resource_exhausted if the job is larger than all that its owner may have at this level.
Status check_quota(const ClusterState& state, const User& user, const JobSpec& spec,
                   Priority priority);

}  // namespace hai
