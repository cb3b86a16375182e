#include "cli/slurm/parse_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "cli/slurm/input_variables.h"
#include "common/whole_number.h"

namespace hai::cli::slurm {
namespace {

std::string shown(const Option& option) {
  return option.letter == 0 ? fmt::format("--{}", option.name)
                            : fmt::format("-{}/--{}", option.letter, option.name);
}

class WordParser {
 public:
  WordParser(Command command, const std::vector<std::string>& words, const std::string& where)
      : command_(command), words_(words), where_(where) {}

  Result<ParsedWords> run() {
    const bool stops_early = submits_jobs(command_);
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (word == "--") break;
      if (word == ":" && stops_early && parsed_.operands.empty()) {
        return invalid_argument("{}hai has no heterogeneous jobs: submit one job for each part",
                                where_);
      }
      if (word.size() < 2 || word[0] != '-') {
        parsed_.operands.push_back(word);
        if (stops_early) break;
        continue;
      }
      RETURN_IF_ERROR(word[1] == '-' ? take_long(word.substr(2)) : take_letters(word));
    }
    parsed_.operands.insert(parsed_.operands.end(),
                            words_.begin() + static_cast<std::ptrdiff_t>(next_), words_.end());
    return std::move(parsed_);
  }

 private:
  Status unknown(const std::string& word, std::string_view near) const {
    const std::string hint = near.empty() ? fmt::format("see {} --help", to_string(command_))
                                          : fmt::format("did you mean --{}?", near);
    return invalid_argument("{}unknown option {}: {}", where_, word.substr(0, 64), hint);
  }

  Status take_long(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const Option* option = find_option(command_, name);
    if (option == nullptr) return unknown("--" + name, nearest_option(command_, name));
    std::optional<std::string> value;
    if (equals != std::string::npos) value = word.substr(equals + 1);
    return take(*option, std::move(value));
  }

  // "-hN4": flags, and at last one that takes the rest of the word or the next one.
  Status take_letters(const std::string& word) {
    for (size_t i = 1; i < word.size(); ++i) {
      const Option* option = find_option(command_, word[i]);
      if (option == nullptr) return unknown(std::string("-") + word[i], "");
      const bool has_rest = i + 1 < word.size() && option->argument != Argument::none;
      std::optional<std::string> value;
      if (has_rest) value = word.substr(i + 1);
      RETURN_IF_ERROR(take(*option, std::move(value)));
      if (has_rest) return ok();
    }
    return ok();
  }

  Status take(const Option& option, std::optional<std::string> value) {
    if (option.treatment == Treatment::refused) {
      return invalid_argument("{}{} is not supported: {}", where_, shown(option), option.text);
    }
    if (option.argument == Argument::none && value) {
      return invalid_argument("{}{} takes no value, was given '{}'", where_, shown(option),
                              value->substr(0, 64));
    }
    if (option.argument == Argument::required) {
      if (!value && next_ < words_.size()) value = words_[next_++];
      if (!value || value->empty()) {
        return invalid_argument("{}{} needs a value", where_, shown(option));
      }
    }
    parsed_.options.push_back({&option, value.value_or(""), where_});
    return ok();
  }

  const Command command_;
  const std::vector<std::string>& words_;
  const std::string& where_;
  size_t next_ = 0;
  ParsedWords parsed_;
};

std::string_view usage_of(Command command) {
  switch (command) {
    case Command::sbatch:
      return "sbatch [OPTIONS] [SCRIPT [ARGS...]]: submits a batch script to hai";
    case Command::srun:
      return "srun [OPTIONS] PROGRAM [ARGS...]: inside a job, runs tasks on its nodes; else a job";
    case Command::salloc:
      return "salloc [OPTIONS] [PROGRAM [ARGS...]]: a shell, or this program, in this terminal on "
             "the first node of a job; srun in it runs tasks on all its nodes";
    case Command::squeue:
      return "squeue [OPTIONS]: lists jobs";
    case Command::scancel:
      return "scancel [OPTIONS] [JOB...]: stops jobs";
    case Command::sinfo:
      return "sinfo [OPTIONS]: lists node groups and nodes";
    case Command::scontrol:
      return "scontrol show job|node|partition|config|hostnames|hostlist [NAME], "
             "hold|release|requeue|suspend|resume JOB..., ping, write batch_script JOB [FILE]";
    case Command::sacct:
      return "sacct [OPTIONS]: lists jobs, finished ones too";
  }
  return "";
}

// What asks for no more than what happens anyway.
bool asks_for_nothing(const GivenOption& given) {
  using Same = std::pair<std::string_view, std::string_view>;
  constexpr auto kSame = std::to_array<Same>({{"cpu-bind", "no"},
                                              {"cpu-bind", "none"},
                                              {"distribution", "block"},
                                              {"gpu-bind", "none"},
                                              {"kill-on-invalid-dep", "no"},
                                              {"mem-bind", "no"},
                                              {"mem-bind", "none"},
                                              {"profile", "none"},
                                              {"propagate", "NONE"},
                                              {"tmp", "0"},
                                              {"wait", "0"}});
  std::string_view value = given.value;
  for (const std::string_view word : {"quiet,", "verbose,"}) {
    if (value.starts_with(word)) value.remove_prefix(word.size());
  }
  return std::ranges::find(kSame, Same(given.option->name, value)) != kSame.end();
}

std::string option_lines(std::span<const Option> options) {
  std::string text;
  for (const Option& option : options) {
    if (option.treatment != Treatment::mapped) continue;
    const std::string letter = option.letter == 0 ? "    " : fmt::format("-{}, ", option.letter);
    const std::string_view value = option.argument == Argument::required   ? "=VALUE"
                                   : option.argument == Argument::optional ? "[=VALUE]"
                                                                           : "";
    text += fmt::format("  {}{:<26} {}\n", letter, fmt::format("--{}{}", option.name, value),
                        option.text);
  }
  return text;
}

std::string environment_lines(Command command) {
  constexpr size_t kColumnsMax = 100;
  std::string text = "\nOptions are also taken from the environment:\n";
  std::string line;
  for (const InputVariable& variable : input_variables(command)) {
    if (variable.option.empty()) continue;
    if (line.size() + 3 + variable.name.size() > kColumnsMax) {
      text += std::exchange(line, "") + "\n";
    }
    line += fmt::format("{}{}", line.empty() ? "  " : " ", variable.name);
  }
  return text + line + "\n";
}

}  // namespace

bool ParsedWords::has(std::string_view name) const { return find(name) != nullptr; }

const GivenOption* ParsedWords::find(std::string_view name) const {
  const auto found = std::find_if(options.rbegin(), options.rend(), [&](const GivenOption& given) {
    return given.option->name == name;
  });
  return found == options.rend() ? nullptr : &*found;
}

std::string ParsedWords::value_of(std::string_view name) const {
  const GivenOption* given = find(name);
  return given == nullptr ? "" : given->value;
}

std::vector<std::string> ParsedWords::warnings() const {
  std::vector<std::string> lines;
  std::set<std::string_view> seen;
  for (const GivenOption& given : options) {
    if (given.option->treatment != Treatment::warned || asks_for_nothing(given)) continue;
    if (!seen.insert(given.option->name).second) continue;
    lines.push_back(fmt::format("{}{} has no effect: {}", given.where, shown(*given.option),
                                given.option->text));
  }
  return lines;
}

Result<ParsedWords> parse_words(Command command, const std::vector<std::string>& words,
                                const std::string& where) {
  return WordParser(command, words, where).run();
}

Status option_error(const GivenOption& given, std::string_view text) {
  return invalid_argument("{}--{}: {}", given.where, given.option->name, text);
}

Result<int> parse_count(const GivenOption& given, int low, int high) {
  const std::string& text = given.value;
  const std::optional<int64_t> number = whole_number(text);
  if (!number || *number < low || *number > high) {
    return option_error(
        given, fmt::format("must be a number {}..{}, is '{}'", low, high, text.substr(0, 64)));
  }
  return static_cast<int>(*number);
}

std::string help_text(Command command) {
  std::string text = fmt::format("{}\n\n", usage_of(command));
  text += option_lines(own_options(command));
  if (submits_jobs(command)) {
    text += option_lines(common_job_options());
  }
  text += environment_lines(command);
  return text + "\nOther options of Slurm are ignored or refused: docs/slurm.md has them all.\n";
}

}  // namespace hai::cli::slurm
