#pragma once
// JobSpec between the plain type and protobuf: the client sends it, the server receives it. Total
// in both directions; from_proto refuses words and numbers that no JobSpec can hold. Whether the
// spec makes sense is not judged here.

#include "common/job_spec.h"
#include "common/status.h"

namespace hai::v1 {
class JobSpec;
class ProgramOptions;
}  // namespace hai::v1

namespace hai {

v1::JobSpec to_proto(const JobSpec& spec);
Result<JobSpec> from_proto(const v1::JobSpec& message);

void to_proto(const ProgramOptions& options, v1::ProgramOptions& out);
void from_proto(const v1::ProgramOptions& message, ProgramOptions& out);

}  // namespace hai
