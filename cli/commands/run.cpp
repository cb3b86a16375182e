#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/commands/job_file_input.h"
#include "cli/exit_code.h"
#include "cli/job_file.h"
#include "cli/session.h"
#include "cli/submission.h"
#include "common/spec/job_spec_yaml.h"

namespace hai::cli {
namespace {

struct RunOptions {
  std::string file;
  bool files_are_elsewhere = false;
  SubmissionOptions submission;
};

int run(Session& session, const RunOptions& options) {
  const Result<JobFile> file = read_job_file(options.file);
  if (!file.is_ok()) return session.usage_error(file.status().message());
  JobSpec spec;
  std::vector<SpecError> errors;
  parse_job_spec(file.value().text, &spec, &errors);
  // A name on the command line makes up for a missing one.
  if (!options.submission.name.empty()) {
    std::erase_if(errors, [](const SpecError& error) { return error.path == "name"; });
  }
  if (!options.submission.image.empty()) {  // likewise
    std::erase_if(errors, [](const SpecError& error) { return error.path == "resource.mounts"; });
  }
  if (!errors.empty()) return report_spec_errors(file.value(), errors);
  if (const Status status = apply_options(options.submission, spec); !status.is_ok()) {
    return session.usage_error(status.message());
  }
  if (!options.files_are_elsewhere) {
    errors = find_missing_files(spec);
    if (!errors.empty()) return report_spec_errors(file.value(), errors);
  }
  return submit(session, options.submission, std::move(spec), &file.value());
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("run", "Submit a job file (YAML)")->group("Submit");
  const auto options = std::make_shared<RunOptions>();
  verb->add_option("FILE", options->file, "the job file; - reads standard input")->required();
  verb->add_flag("--files-elsewhere", options->files_are_elsewhere,
                 "do not look here whether workspace and entrypoint are there");
  add_submission_options(*verb, options->submission);
  session.help[verb] = {
      .examples = {{"hai run train.yaml", "submit a job file"},
                   {"hai run train.yaml -n 4 -p high -f",
                    "other than the file says; follow its log"},
                   {"hai run train.yaml --dry-run", "show what would be submitted"}},
      .exit_codes =
          "With -f the code of the job itself, or 130 if it was stopped without one; otherwise "
          "those of hai --help."};
  verb->callback([&session, options] { session.exit_code = run(session, *options); });
}

}  // namespace hai::cli
