#pragma once
// What a command inside a job asks the shim of its rank ($HAI_SOCKET): a line of JSON in, a line of
// JSON back, as docs/contract.md has it.

#include <string>

#include "common/status.h"

namespace hai::cli::slurm {

// Whether hai has asked this job to save and leave.
Result<bool> is_asked_to_leave(const std::string& socket);
// Everything is saved: hai ends all ranks of this attempt.
Status leave_now(const std::string& socket);
// Keeps a line of JSON (step_record.h) with the job's attempt. Of its first rank only.
Status keep_step_record(const std::string& socket, const std::string& record);

}  // namespace hai::cli::slurm
