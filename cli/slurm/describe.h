#pragma once
// scontrol show job and partition, and seff: hai's facts in the layout of Slurm, which scripts
// read. Pure.

#include <optional>
#include <string>
#include <vector>

#include "cli/slurm/allotment.h"
#include "cli/slurm/step/step_record.h"
#include "common/time.h"
#include "hai/v1/types.pb.h"

namespace hai::cli::slurm {

// "JobId=7 JobName=train\n   UserId=...". `given`: in its last attempt.
std::string describe_job(const v1::Job& job, std::optional<Allotment> given, UnixTime now,
                         bool one_line);
// Of a step that runs.
std::string describe_step(const StepRecord& step, const v1::Job& job, bool one_line);
// Of the nodes of one group.
std::string describe_partition(const std::vector<v1::Node>& nodes, bool one_line);
// What seff says of a job.
std::string describe_efficiency(const v1::Job& job, std::optional<Allotment> given, UnixTime now);

}  // namespace hai::cli::slurm
