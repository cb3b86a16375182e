#pragma once
// Acting on jobs by id: scancel and scontrol.

#include <string>
#include <vector>

#include "cli/slurm/option_table.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {
class Client;
}

namespace hai::cli::slurm {

// One complaint for each that was refused; the exit code of the first. `note_of`: said before the
// server's text, "" = nothing.
int control_jobs(Command command, Client& client, const std::vector<std::string>& ids,
                 v1::JobAction action, const std::string& note);

}  // namespace hai::cli::slurm
