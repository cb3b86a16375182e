#include "cli/commands/job_file_input.h"

#include <iostream>

#include "cli/exit_code.h"
#include "cli/file.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

constexpr size_t kStandardInputBytesMax = 16 << 20;

}  // namespace

Result<JobFile> read_job_file(const std::string& path) {
  if (path != "-") {
    Result<std::string> text = read_file(path);
    RETURN_IF_ERROR(text.status());
    return JobFile{path, std::move(text).value()};
  }
  std::string text(kStandardInputBytesMax + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::cin.gcount()));
  if (text.size() > kStandardInputBytesMax) {
    return invalid_argument("standard input: more than {} bytes", kStandardInputBytesMax);
  }
  return JobFile{"standard input", std::move(text)};
}

void tell_spec_warnings(const JobFile& file, const std::vector<FieldError>& warnings) {
  for (const FieldError& warning : warnings) say(file.source + ": " + to_string(warning));
}

int report_spec_errors(const JobFile& file, std::vector<FieldError> errors) {
  for (FieldError& error : errors) {
    if (error.line == 0) error.line = file.line_of(error.path);
    say(file.source + ": " + to_string(error));
  }
  return kUsage;
}

}  // namespace hai::cli
