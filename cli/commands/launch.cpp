#include "cli/commands/launch.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/exit_code.h"
#include "cli/file.h"
#include "cli/session.h"
#include "cli/submission.h"
#include "common/shell_words.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

int run_here(Session& session, const Launcher& launcher) {
  std::vector<std::string> words = launcher.interpreter;
  words.insert(words.end(), session.program.begin(), session.program.end());
  say("running here; end the line with `-- -n NODES` to submit it as a job");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  say(fmt::format("{}: {}", words[0], std::strerror(error)));
  return error == ENOENT ? 127 : 126;
}

int launch(Session& session, const Launcher& launcher, const SubmissionOptions& options) {
  if (session.program.empty()) {
    return session.usage_error(
        fmt::format("hai {0}: nothing to run: write hai {0} FILE ARGS -- -n 1", launcher.verb));
  }
  if (!session.is_submission) return run_here(session, launcher);
  JobSpec spec;
  std::error_code error;
  const std::string directory = fs::current_path(error).string();
  if (error) return session.usage_error("the current directory is gone");
  Status status = spec_of_program(launcher, session.program, directory, spec);
  if (status.is_ok()) status = apply_options(options, spec);
  if (!status.is_ok()) return session.usage_error(status.message());
  return submit(session, options, std::move(spec));
}

}  // namespace

Status spec_of_program(const Launcher& launcher, const std::vector<std::string>& program,
                       const std::string& directory, JobSpec& spec) {
  const std::string& file = program.front();
  std::vector<std::string> parameters(program.begin() + 1, program.end());
  const fs::path path = fs::path(directory) / file;
  std::error_code error;
  const bool is_file = fs::is_regular_file(path, error);
  spec.workspace = directory;
  spec.name = unique_name(fs::path(file).stem().string());
  spec.entrypoint = file;
  if (launcher.interpreter.empty()) {
    if (!is_file) {
      spec.entrypoint = file.find('/') == std::string::npos ? find_in_path(file) : "";
      if (spec.entrypoint.empty()) {
        return invalid_argument("{}: no such program in {} or in PATH", file, directory);
      }
    }
  } else if (file.starts_with('-') || !file.ends_with(launcher.suffix)) {
    // python -m MODULE, or a script without the suffix by which the agent knows its interpreter.
    if (!file.starts_with('-') && !is_file) {
      return invalid_argument("{}: no such file in {}", file, directory);
    }
    parameters.insert(parameters.begin(), program.front());
    parameters.insert(parameters.begin(), launcher.interpreter.begin(), launcher.interpreter.end());
    spec.entrypoint = "/usr/bin/env";
    if (file.starts_with('-')) spec.name = unique_name(launcher.verb);
  } else if (!is_file) {
    return invalid_argument("{}: no such file in {}", file, directory);
  }
  spec.parameters = join_words(parameters);
  return ok();
}

void add_launcher(CLI::App& app, Session& session, const Launcher& launcher) {
  CLI::App* verb = app.add_subcommand(launcher.verb, launcher.description)->group("Submit");
  verb->footer(fmt::format(
      "What stands before the last -- belongs to the program, what follows to hai:\n"
      "  hai {0} {1} ARGS -- -n 4 -p high -f\n"
      "Without a -- the program runs here and now. A job runs in the current directory.",
      launcher.verb, launcher.suffix.empty() ? "./PROGRAM" : "FILE" + launcher.suffix));
  const auto options = std::make_shared<SubmissionOptions>();
  add_submission_options(*verb, *options);
  verb->callback(
      [&session, launcher, options] { session.exit_code = launch(session, launcher, *options); });
}

}  // namespace hai::cli
