#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/exit_code.h"
#include "cli/file.h"
#include "cli/session.h"
#include "cli/submission.h"
#include "common/spec/job_spec_yaml.h"

namespace hai::cli {
namespace {

struct Options {
  std::string file;
  SubmissionOptions submission;
};

Result<std::string> read_job_file(const std::string& path) {
  if (path != "-") return read_file(path);
  return std::string(std::istreambuf_iterator<char>(std::cin), {});
}

int run(Session& session, const Options& options) {
  const Result<std::string> text = read_job_file(options.file);
  if (!text.is_ok()) return session.usage_error(text.status().message());
  const std::string source = options.file == "-" ? "standard input" : options.file;
  JobSpec spec;
  std::vector<SpecError> errors;
  parse_job_spec(text.value(), &spec, &errors);
  // A name on the command line makes up for a missing one.
  if (!options.submission.name.empty()) {
    std::erase_if(errors, [](const SpecError& error) { return error.path == "name"; });
  }
  for (const SpecError& error : errors) say(source + ": " + to_string(error));
  if (!errors.empty()) return kUsage;
  if (const Status status = apply_options(options.submission, spec); !status.is_ok()) {
    return session.usage_error(status.message());
  }
  return submit(session, options.submission, std::move(spec));
}

}  // namespace

void add_run(CLI::App& app, Session& session) {
  CLI::App* verb = app.add_subcommand("run", "Submit a job file (YAML)")->group("Submit");
  const auto options = std::make_shared<Options>();
  verb->add_option("FILE", options->file, "the job file; - reads standard input")->required();
  add_submission_options(*verb, options->submission);
  verb->callback([&session, options] { session.exit_code = run(session, *options); });
}

}  // namespace hai::cli
