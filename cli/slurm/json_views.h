#pragma once
// squeue, sinfo and sacct --json: the names and shapes of Slurm 23.11's documents, as far as hai
// knows the values. Pure.

#include <string>
#include <vector>

#include "cli/slurm/option_table.h"
#include "cli/slurm/sacct_fields.h"
#include "common/time.h"
#include "hai/v1/types.pb.h"

namespace hai::cli::slurm {

std::string jobs_document(const std::vector<v1::Job>& jobs);
std::string nodes_document(const std::vector<v1::Node>& nodes);
// Each job's row, and after it those of its steps.
std::string accounts_document(const std::vector<AccountRow>& rows, UnixTime now);

}  // namespace hai::cli::slurm
