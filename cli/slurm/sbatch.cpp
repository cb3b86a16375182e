#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>

#include "cli/client.h"
#include "cli/exit_code.h"
#include "cli/file.h"
#include "cli/follow.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/slurm/batch_script.h"
#include "cli/slurm/commands.h"
#include "cli/slurm/console.h"
#include "cli/slurm/input_variables.h"
#include "cli/slurm/submit.h"

namespace hai::cli::slurm {
namespace {

constexpr Command kSbatch = Command::sbatch;

struct Script {
  std::string text;
  std::string path;   // "" = none
  std::string name;   // of the job
  std::string shown;  // how errors name it
};

Result<std::string> read_standard_input() {
  std::string text;
  char buffer[65'536];
  for (;;) {
    const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (count < 0) return failed_precondition("standard input cannot be read");
    if (count == 0) return text;
    text.append(buffer, static_cast<size_t>(count));
    if (text.size() > (16u << 20)) return invalid_argument("standard input is too long");
  }
}

Result<Script> read_script(const ParsedWords& words) {
  if (const GivenOption* wrap = words.find("wrap")) {
    if (!words.operands.empty()) {
      return option_error(
          *wrap, fmt::format("a script is there, too: {}", words.operands[0].substr(0, 64)));
    }
    return Script{"#!/bin/sh\n# This script was created by sbatch --wrap.\n\n" + wrap->value + "\n",
                  "", "wrap", "--wrap"};
  }
  if (words.operands.empty()) {
    Result<std::string> text = read_standard_input();
    RETURN_IF_ERROR(text.status());
    return Script{std::move(text.value()), "", "sbatch", "standard input"};
  }
  const std::string& path = words.operands[0];
  Result<std::string> text = read_file(path);
  RETURN_IF_ERROR(text.status());
  std::error_code error;
  const std::string whole = std::filesystem::absolute(path, error).string();
  const std::string name = std::filesystem::path(path).filename().string();
  return Script{std::move(text.value()), whole, name, name};
}

struct Asked {
  Script script;
  ParsedWords options;  // of the script, the environment, the command line: the last one wins
  MappedJob job;
};

// Everything that can be judged without the server.
Result<Asked> understand_sbatch(const ParsedWords& words) {
  Asked asked;
  Result<Script> script = read_script(words);
  RETURN_IF_ERROR(script.status());
  asked.script = std::move(script.value());
  RETURN_IF_ERROR(interpreter_of(asked.script.text, asked.script.shown).status());
  Result<ParsedWords> lines = read_script_options(asked.script.text, asked.script.shown);
  RETURN_IF_ERROR(lines.status());
  asked.options = std::move(lines.value());
  const Result<EnvironmentOptions> environment = environment_options(kSbatch, own_variable);
  RETURN_IF_ERROR(environment.status());
  for (const ParsedWords* more : {&environment.value().words, &words}) {
    asked.options.options.insert(asked.options.options.end(), more->options.begin(),
                                 more->options.end());
  }
  const Result<Surroundings> here = surroundings(wall_now());
  RETURN_IF_ERROR(here.status());
  Result<MappedJob> job = map_job(asked.options, asked.script.name, here.value());
  RETURN_IF_ERROR(job.status());
  asked.job = std::move(job.value());
  asked.job.plan.script = asked.script.path;
  if (words.operands.size() > 1) {
    asked.job.plan.arguments.assign(words.operands.begin() + 1, words.operands.end());
  }
  if (asked.job.plan.output.empty()) {
    asked.job.plan.output = asked.job.spec.array.empty() ? "slurm-%j.out" : "slurm-%A_%a.out";
    asked.job.plan.is_default_output = true;
  }
  return asked;
}

int wait_for_end(Client& client, int64_t id) {
  const Result<v1::Job> job = wait_for_job(client, std::to_string(id), std::nullopt);
  if (!job.is_ok()) return fail(kSbatch, job.status());
  return exit_code_of_ended(job.value());
}

}  // namespace

int run_sbatch(Session& session, const Words& words) {
  const Result<ParsedWords> parsed = parse_words(kSbatch, words);
  if (!parsed.is_ok()) return usage_error(kSbatch, parsed.status().message());
  if (is_only_asking(kSbatch, parsed.value())) return kOk;
  const Result<Asked> asked = understand_sbatch(parsed.value());
  if (!asked.is_ok()) return usage_error(kSbatch, asked.status().message());
  for (const std::string& line : asked.value().job.warnings) tell(kSbatch, line);
  const Result<Client*> client = session.client();
  if (!client.is_ok()) return fail(kSbatch, client.status());
  const ParsedWords& options = asked.value().options;
  if (options.has("test-only")) {
    const Result<std::string> start = ask_start(*client.value(), asked.value().job);
    if (!start.is_ok()) return fail(kSbatch, start.status());
    tell(kSbatch, start.value());
    return kOk;
  }
  const Result<int64_t> id =
      submit_job(kSbatch, *client.value(), asked.value().job, asked.value().script.text);
  if (!id.is_ok()) {
    const int code = fail(kSbatch, id.status());
    return code == kNotFound ? kRefused : code;
  }
  print(options.has("parsable") ? fmt::format("{}\n", id.value())
                                : fmt::format("Submitted batch job {}\n", id.value()));
  return options.has("wait") ? wait_for_end(*client.value(), id.value()) : kOk;
}

}  // namespace hai::cli::slurm
