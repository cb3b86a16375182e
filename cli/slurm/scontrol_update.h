#pragma once
// scontrol update JobId=7 TimeLimit=2:00:00 NumNodes=2: hai edit in Slurm's words.

#include <string>
#include <vector>

#include "cli/slurm/commands.h"
#include "common/status.h"
#include "common/time.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {
class Client;
}

namespace hai::cli::slurm {

struct JobUpdate {
  std::vector<std::string> jobs;  // "17", "17_3"
  v1::EditJobRequest edit;        // without its job
};

// invalid_argument for what is no KEY=VALUE, and for keys that cannot change here.
Result<JobUpdate> read_update(const Words& words, UnixTime now);
// Each by itself; what is refused is told. Returns the exit code.
int update_jobs(Client& client, const JobUpdate& update);

}  // namespace hai::cli::slurm
