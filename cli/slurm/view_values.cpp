#include "cli/slurm/view_values.h"

#include "cli/slurm/console.h"
#include "cli/slurm/input_variables.h"
#include "cli/slurm/job_words.h"
#include "cli/slurm/long_format.h"
#include "cli/slurm/node_words.h"
#include "cli/slurm/sacct_fields.h"

namespace hai::cli::slurm {
namespace {

Status check_value(Command command, const GivenOption& given) {
  const std::string_view name = given.option->name;
  if (command == Command::sacct) {
    return name == "format" ? parse_account_fields(given.value).status() : ok();
  }
  const bool is_squeue = command == Command::squeue;
  if (name == "format")
    return parse_format(given.value, is_squeue ? job_letters() : node_letters()).status();
  if (!is_squeue) return ok();
  if (name == "Format") return parse_long_format(given.value, job_field_names()).status();
  if (name == "sort") return parse_sort(given.value, job_letters()).status();
  if (name == "states") return parse_states(given.value).status();
  return ok();
}

}  // namespace

std::vector<std::string> drop_unknown_values(Command command, ParsedWords& words) {
  std::vector<std::string> lines;
  std::erase_if(words.options, [&](const GivenOption& given) {
    if (given.where.empty()) return false;
    const Status checked = check_value(command, given);
    if (checked.is_ok()) return false;
    lines.push_back(option_error(given, checked.message()).message() + "; it is ignored");
    return true;
  });
  return lines;
}

Result<ParsedWords> parse_view_words(Command command, const std::vector<std::string>& words) {
  Result<ParsedWords> parsed = parse_with_environment(command, words);
  RETURN_IF_ERROR(parsed.status());
  for (const std::string& line : drop_unknown_values(command, parsed.value())) tell(command, line);
  return parsed;
}

}  // namespace hai::cli::slurm
