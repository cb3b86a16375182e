#pragma once
// A job file, as far as its errors need it: where a field stands, and whether what it names is
// there.

#include <string>
#include <string_view>
#include <vector>

#include "common/config/field_error.h"
#include "common/job_spec.h"
#include "common/status.h"

namespace hai::cli {

struct JobFile {
  std::string source;  // its path as the user wrote it, or "standard input"
  std::string text;

  // The line of "resource.node_count"; 0 if the file does not have it.
  int line_of(std::string_view path) const;
  // The server's "resource.group: there is no ..." with file and line before it; what names no
  // field of the file stays as it is.
  Status locate(const Status& status) const;
};

// Submitting works on a file system that all nodes share, so what is missing here would only be
// missed there. Lines are not filled in.
std::vector<FieldError> find_missing_files(const JobSpec& spec);

}  // namespace hai::cli
