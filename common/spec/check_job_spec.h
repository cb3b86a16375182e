#pragma once
// Is a job spec well formed by itself? The same rules for one from YAML and one that came by gRPC
// or REST. Whether the cluster can run it (group, quota, node count) is the server's question, not
// asked here.

#include <vector>

#include "common/config/field_error.h"
#include "common/job_spec.h"

namespace hai {

using SpecError = FieldError;

// Everything wrong with it, by the paths of the YAML form; `line` is 0.
std::vector<SpecError> check_job_spec(const JobSpec& spec);

}  // namespace hai
