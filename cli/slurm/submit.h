#pragma once
// What sbatch and srun share once they know what job they want.

#include <string>
#include <vector>

#include "cli/slurm/map_job.h"
#include "cli/slurm/surroundings.h"
#include "common/status.h"
#include "hai/v1/types.pb.h"

namespace hai::cli {
class Client;
}

namespace hai::cli::slurm {

// Whether enough of its group's nodes have the CPUs and GPUs that a job with whole nodes names: its
// spec says no number, so the server cannot judge.
Status check_whole_nodes(const MappedJob& job, const std::vector<v1::Node>& nodes);

// Adds what the job's ranks need to know and sends it. A name that is taken gets a suffix. One that
// is to be held is so before it may start. The id.
Result<int64_t> submit_job(Command command, Client& client, MappedJob job,
                           const std::string& script);

// For --test-only: when it would start, in a sentence.
Result<std::string> ask_start(Client& client, const MappedJob& job);

}  // namespace hai::cli::slurm
