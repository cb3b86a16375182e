#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/commands/job_file_input.h"
#include "cli/exit_code.h"
#include "cli/git_checkout.h"
#include "cli/job_file.h"
#include "cli/session.h"
#include "cli/submission.h"
#include "common/entrypoint.h"
#include "common/shell_words.h"
#include "common/spec/job_spec_yaml.h"

namespace hai::cli {
namespace {

struct RunOptions {
  std::string file;
  bool files_are_elsewhere = false;
  bool wants_terminal = false;
  SubmissionOptions submission;
};

// What a rank would start, as the agent does (docs/contract.md, Job file).
Result<std::vector<std::string>> program_of(const JobSpec& spec) {
  const std::string& file = spec.entrypoint;
  std::vector<std::string> words = interpreter_of(file);
  // A bare name is in the workspace, if it is there.
  std::error_code error;
  const bool is_bare = words.empty() && file.find('/') == std::string::npos;
  const bool is_here = is_bare && std::filesystem::exists(spec.workspace + "/" + file, error);
  words.push_back(is_here ? "./" + file : file);
  Result<std::vector<std::string>> parameters = split_parameters(spec.parameters);
  RETURN_IF_ERROR(parameters.status());
  words.insert(words.end(), parameters.value().begin(), parameters.value().end());
  return words;
}

int run(Session& session, const RunOptions& options) {
  const Result<JobFile> file = read_job_file(options.file);
  if (!file.is_ok()) return session.usage_error(file.status().message());
  JobSpec spec;
  std::vector<SpecError> errors, warnings;
  parse_job_spec(file.value().text, &spec, &errors, &warnings);
  // A name on the command line makes up for a missing one.
  if (!options.submission.name.empty()) {
    std::erase_if(errors, [](const SpecError& error) { return error.path == "name"; });
  }
  if (!options.submission.image.empty()) {  // likewise
    std::erase_if(errors, [](const SpecError& error) { return error.path == "resource.mounts"; });
  }
  const std::optional<GitSource> source = git_source_of(file.value(), errors);
  if (!errors.empty()) return report_spec_errors(file.value(), errors);
  tell_spec_warnings(file.value(), warnings);
  if (source) {
    const Status status = check_out(*source, options.submission.dry_run, spec);
    if (!status.is_ok()) return session.fail(file.value().locate(status));
  }
  if (const Status status = apply_options(options.submission, spec); !status.is_ok()) {
    return session.usage_error(status.message());
  }
  const bool is_not_checked_out = source && options.submission.dry_run;
  if (!options.files_are_elsewhere && !is_not_checked_out) {
    errors = find_missing_files(spec);
    if (!errors.empty()) return report_spec_errors(file.value(), errors);
  }
  SubmissionOptions submission = options.submission;
  if (options.wants_terminal) {
    Result<std::vector<std::string>> program = program_of(spec);
    if (!program.is_ok()) return session.usage_error(program.status().message());
    submission.terminal = std::move(program).value();
  }
  return submit(session, submission, std::move(spec), &file.value());
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("run", "Submit a job file (YAML)")->group("Submit");
  const auto options = std::make_shared<RunOptions>();
  verb->add_option("FILE", options->file, "the job file; - reads standard input")->required();
  verb->add_flag("--files-elsewhere", options->files_are_elsewhere,
                 "do not look here whether workspace and entrypoint are there");
  verb->add_flag("--pty", options->wants_terminal,
                 "give the program this terminal when the job runs; of one node");
  add_submission_options(*verb, options->submission);
  session.help[verb] = {
      .examples = {{"hai run train.yaml", "submit a job file"},
                   {"hai run train.yaml -n 4 -p high -f",
                    "other than the file says; follow its log"},
                   {"hai run train.yaml --pty", "in this terminal, when the job runs"},
                   {"hai run train.yaml --dry-run", "show what would be submitted"}},
      .exit_codes =
          "With -f or --pty the code of the job itself, or 130 if it was stopped without one or "
          "its terminal was left; otherwise those of hai --help."};
  verb->callback([&session, options] { session.exit_code = run(session, *options); });
}

}  // namespace hai::cli
