#pragma once
// Job files as `hai run` and `hai whatif submit` read them.

#include <string>
#include <vector>

#include "cli/job_file.h"

namespace hai::cli {

// "-" is standard input.
Result<JobFile> read_job_file(const std::string& path);
// What the file says in vain, a line each.
void tell_spec_warnings(const JobFile& file, const std::vector<FieldError>& warnings);
// Each with its line; the exit code.
int report_spec_errors(const JobFile& file, std::vector<FieldError> errors);

}  // namespace hai::cli
