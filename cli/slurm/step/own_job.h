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

}  // namespace hai::cli::slurm
