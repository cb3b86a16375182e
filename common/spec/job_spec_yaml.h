#pragma once
// A job spec as YAML: HAI's experiment format, version 2, extended (docs/contract.md,
// Job file).

#include <string>
#include <string_view>
#include <vector>

#include "common/job_spec.h"
#include "common/spec/check_job_spec.h"

namespace hai {

// Reads and validates. Keys of HAI's that have no equivalent here and ask for nothing are left out,
// and told in *warnings. False, with every error in line order, if anything is wrong; *out is then
// half filled and not to be used. Safe for text from anyone: at most 1 MiB is read.
bool parse_job_spec(std::string_view yaml, JobSpec* out, std::vector<SpecError>* errors,
                    std::vector<SpecError>* warnings = nullptr);

// The whole spec, defaults written out. parse_job_spec gives back an equal spec if the spec is
// valid.
std::string format_job_spec_yaml(const JobSpec& spec);

}  // namespace hai
