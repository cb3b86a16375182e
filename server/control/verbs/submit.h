#pragma once
// What admission asks of a job, where others ask it too.

#include "server/control/verbs/decide.h"

namespace hai {

// invalid_argument if the nodes of its group could never run it together, or none is large enough.
Status check_room(const ClusterState& state, const JobSpec& spec);
// resource_exhausted if the job is larger than all that its owner may have at this level.
Status check_quota(const ClusterState& state, const User& user, const JobSpec& spec,
                   Priority priority);

// failed_precondition or resource_exhausted if the job is interactive and this cluster, or its
// owner, may have no more such nodes. `self`: the job, if it is there already.
Status check_interactive(const ClusterState& state, const Knobs& knobs, const std::string& user,
                         const JobSpec& spec, JobId self);

}  // namespace hai
