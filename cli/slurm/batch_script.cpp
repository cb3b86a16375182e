#include "cli/slurm/batch_script.h"

#include <fmt/core.h>

#include "common/shell_words.h"
#include "common/text_check.h"

namespace hai::cli::slurm {
namespace {

constexpr std::string_view kMark = "#SBATCH";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  text.remove_prefix(begin);
  const size_t last = text.find_last_not_of(kBlanks);
  return last == std::string_view::npos ? "" : text.substr(0, last + 1);
}

// What a comment at the end of the line leaves: a # outside quotes, after a blank.
std::string_view without_comment(std::string_view text) {
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '\\') {
      ++i;
    } else if (c == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t')) {
      return text.substr(0, i);
    }
  }
  return text;
}

}  // namespace

Result<ParsedWords> read_script_options(std::string_view script, const std::string& name) {
  ParsedWords all;
  int number = 0;
  while (!script.empty()) {
    const size_t end = std::min(script.find('\n'), script.size());
    const std::string_view line = script.substr(0, end);
    script.remove_prefix(std::min(end + 1, script.size()));
    ++number;
    if (!line.starts_with('#')) {
      if (trimmed(line).empty()) continue;
      break;  // the first command
    }
    if (!line.starts_with(kMark) || line.size() == kMark.size() ||
        (line[kMark.size()] != ' ' && line[kMark.size()] != '\t')) {
      continue;
    }
    const std::string where = fmt::format("{} line {}: ", name, number);
    const std::string_view rest = trimmed(without_comment(line.substr(kMark.size())));
    if (rest == "hetjob" || rest == "packjob") {
      return invalid_argument("{}hai has no heterogeneous jobs: submit one job for each part",
                              where);
    }
    const auto words = split_parameters(rest);
    if (!words.is_ok()) return invalid_argument("{}{}", where, words.status().message());
    Result<ParsedWords> parsed = parse_words(Command::sbatch, words.value(), where);
    RETURN_IF_ERROR(parsed.status());
    if (!parsed.value().operands.empty()) {
      return invalid_argument("{}'{}' is no option", where,
                              parsed.value().operands[0].substr(0, 64));
    }
    all.options.insert(all.options.end(), parsed.value().options.begin(),
                       parsed.value().options.end());
  }
  return all;
}

Result<std::vector<std::string>> interpreter_of(std::string_view script, const std::string& name) {
  if (script.size() > kScriptBytesMax) {
    return invalid_argument("{}: {} bytes, at most {} are taken: call the long part from a file",
                            name, script.size(), kScriptBytesMax);
  }
  if (const auto bad = find_bad_text(script, ControlCharacters::allow)) {
    return invalid_argument("{} line {}: {}: this is not a script", name, bad->line, bad->what);
  }
  const std::string_view line = script.substr(0, script.find('\n'));
  const std::string_view program = line.starts_with("#!") ? trimmed(line.substr(2)) : "";
  if (program.empty()) {
    return invalid_argument(
        "{}: this does not look like a batch script: the first line must be #! and the path of an "
        "interpreter, e.g. #!/bin/bash",
        name);
  }
  if (line.ends_with('\r')) {
    return invalid_argument("{}: lines end as in DOS (\\r\\n), turn them into \\n", name);
  }
  // The kernel's rule: the program, and all the rest as one argument.
  const size_t blank = program.find_first_of(" \t");
  std::vector<std::string> words = {std::string(program.substr(0, blank))};
  if (blank != std::string_view::npos) words.emplace_back(trimmed(program.substr(blank)));
  return words;
}

}  // namespace hai::cli::slurm
