#include "cli/commands/launch.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/commands/rehearsal.h"
#include "cli/exit_code.h"
#include "cli/file.h"
#include "cli/python_environment.h"
#include "cli/session.h"
#include "cli/submission.h"
#include "cli/workspace.h"
#include "common/python_environment.h"
#include "common/shell_words.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> words_of(const Session& session, const Launcher& launcher) {
  std::vector<std::string> words = launcher.interpreter;
  words.insert(words.end(), session.program.begin(), session.program.end());
  return words;
}

int run_here(Session& session, const Launcher& launcher) {
  std::vector<std::string> words = words_of(session, launcher);
  if (!session.is_simulation) {
    say("running here; end the line with `-- -n NODES` to submit it as a job");
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  say(fmt::format("{}: {}", words[0], std::strerror(error)));
  return error == ENOENT ? 127 : 126;
}

int launch(Session& session, const Launcher& launcher, SubmissionOptions options,
           const Rehearsal& rehearsal, bool wants_terminal) {
  if (session.program.empty()) {
    return session.usage_error(
        fmt::format("hai {0}: nothing to run: write hai {0} FILE ARGS -- -n 1", launcher.verb));
  }
  const auto has = [&](const char* word) {
    return std::find(session.program.begin(), session.program.end(), word) != session.program.end();
  };
  if ((session.is_submission && has("++")) || (session.is_simulation && has("--"))) {
    return session.usage_error(
        "either -- to submit the program or ++ to rehearse it here, not both");
  }
  std::error_code error;
  const std::string directory = fs::current_path(error).string();
  if (error) return session.usage_error("the current directory is gone");
  if (session.is_simulation) set_rehearsal(rehearsal, session.program.front(), directory);
  if (!session.is_submission) return run_here(session, launcher);
  JobSpec spec;
  spec.image = options.image;  // in it programs may be that are not here
  Status status = set_python_environment(options.venv, spec);
  if (status.is_ok()) status = spec_of_program(launcher, session.program, directory, spec);
  // What was pushed from a laptop runs where that one's environments are not.
  const bool is_elsewhere = spec.workspace != directory;
  if (launcher.keeps_environment && options.venv.empty() && !is_elsewhere)
    keep_active_environment(spec);
  if (status.is_ok()) status = apply_options(options, spec);
  if (!status.is_ok()) return session.usage_error(status.message());
  if (wants_terminal) options.terminal = words_of(session, launcher);
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
  spec.workspace = on_nodes(directory);
  spec.name = unique_name(fs::path(file).stem().string());
  spec.entrypoint = file;
  if (launcher.interpreter.empty()) {
    const bool is_bare = file.find('/') == std::string::npos;
    const bool is_of_image = !spec.image.empty() && (is_bare || file.starts_with('/'));
    const bool is_of_venv = is_bare && spec.environments.contains(kPythonEnvironment);
    if (!is_file && !is_of_image && !is_of_venv) {
      spec.entrypoint = is_bare ? find_in_path(file) : "";
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
  const std::string file = launcher.suffix.empty() ? "./train" : "train" + launcher.suffix;
  session.help[verb] = {
      .details =
          "What stands before the last -- belongs to the program, what follows to hai. "
          "Without a -- the program runs here and now; with ++ -ss SECONDS in its place it "
          "rehearses a job here: it has a job's variables and modules, and is asked to save after "
          "so long. A job runs in the current directory.",
      .examples = {{fmt::format("hai {} {} --config 7b.yaml -- -n 4 -p high -f", launcher.verb,
                                file),
                    "on 4 nodes; follow its log"},
                   {fmt::format("hai {} {} --config 7b.yaml -- --pty", launcher.verb, file),
                    "in this terminal, when the job runs"},
                   {fmt::format("hai {} {} --config 7b.yaml", launcher.verb, file),
                    "the same program here and now"},
                   {fmt::format("hai {} {} --config 7b.yaml ++ -ss 60", launcher.verb, file),
                    "and as if it were a job, asked to save after a minute"}},
      .exit_codes =
          "With -f or --pty the code of the job itself, or 130 if it was stopped without one or "
          "its "
          "terminal was left; without a -- "
          "that of the program; otherwise those of hai --help.",
      .usage =
          (launcher.suffix.empty() ? "PROGRAM" : "FILE") + std::string(" ARGS... -- [OPTIONS]")};
  const auto options = std::make_shared<SubmissionOptions>();
  add_submission_options(*verb, *options);
  const auto rehearsal = std::make_shared<Rehearsal>();
  verb->add_option("--suspend-seconds", rehearsal->suspend_seconds,
                   "after ++: be asked to save after so long (also -ss)")
      ->check(CLI::Range(0, 1'000'000));
  verb->add_option("--life-state", rehearsal->life_state,
                   "after ++: the whole life state to begin with (also -ls)");
  const auto wants_terminal = std::make_shared<bool>(false);
  verb->add_flag("--pty", *wants_terminal,
                 "give the program this terminal when the job runs; of one node");
  verb->callback([&session, launcher, options, rehearsal, wants_terminal] {
    session.exit_code = launch(session, launcher, *options, *rehearsal, *wants_terminal);
  });
}

}  // namespace hai::cli
