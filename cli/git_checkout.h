#pragma once
// spec.git_remote_repo of HAI's job files: `hai run` checks the repository out, as whoever submits,
// on the homes that nodes share. One revision is one folder, which later jobs of it have, too.

#include <optional>
#include <string>
#include <vector>

#include "cli/job_file.h"
#include "common/job_spec.h"

namespace hai::cli {

struct GitSource {
  std::string repository;  // what `git clone` takes
  std::string revision;    // branch, tag or commit; "" = what the repository begins with
};

// What the file asks for; then what its reader said of these keys, and of the workspace that it
// leaves out, is taken out of `errors`.
std::optional<GitSource> git_source_of(const JobFile& file, std::vector<FieldError>& errors);

// Finds the commit, checks it out below ~/.hai/repositories unless it is there, and makes it the
// job's workspace; the job is told by HAI's variables. With `is_dry` nothing is written.
Status check_out(const GitSource& source, bool is_dry, JobSpec& spec);

}  // namespace hai::cli
