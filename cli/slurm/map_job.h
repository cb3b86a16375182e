#pragma once
// From Slurm's options to a job. Pure: environment, user and directory are arguments.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/job_plan.h"
#include "cli/slurm/parse_options.h"
#include "common/job_spec.h"

namespace hai::cli::slurm {

using EnvironmentMap = std::map<std::string, std::string>;

struct Surroundings {
  std::string directory;  // the present one
  std::string host;
  EnvironmentMap environment;
  std::string runner;           // path of hai-slurm
  std::string runner_in_image;  // of the one that images get (in_image/main.cpp)
  UnixTime now;
};

struct MappedJob {
  JobSpec spec;  // without script and key, which the caller adds
  JobPlan plan;
  std::string functions_text;  // functions of the shell, e.g. BASH_FUNC_module%%, as one text
  std::vector<std::string> warnings;
  bool is_held = false;  // it is to wait until somebody releases it
  // Of a job with whole nodes, which says neither in its spec: what each node must have.
  int least_cpus = 0;
  int least_gpus = 0;
};

// `default_name`: the name of the script or program.
Result<MappedJob> map_job(const ParsedWords& words, const std::string& default_name,
                          const Surroundings& here);

// What --export lets through. Names that hai gives every job are never passed on.
Result<EnvironmentMap> exported(std::string_view choice, const EnvironmentMap& environment);

// Takes the functions of the shell out of it: no variable of a job may have such a name.
EnvironmentMap take_functions(EnvironmentMap& environment);
// As one text, and back. What does not fit is left out and named in `warnings`.
std::string format_functions(const EnvironmentMap& functions, std::vector<std::string>& warnings);
Result<EnvironmentMap> parse_functions(std::string_view text);

// The first thing wrong with it.
Status check_spec(const JobSpec& spec);

// A name as hai's jobs have them: no blanks or slashes, not only digits.
std::string job_name(std::string_view wanted);

}  // namespace hai::cli::slurm
