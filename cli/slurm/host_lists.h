#pragma once
// scontrol show hostnames and hostlist, which every script for several nodes calls: they need no
// server. Both give the exit code.

#include <string>
#include <vector>

namespace hai::cli::slurm {

// Of SLURM_JOB_NODELIST if there are no names.
int show_hostnames(const std::vector<std::string>& names);
int show_hostlist(const std::vector<std::string>& names);

}  // namespace hai::cli::slurm
