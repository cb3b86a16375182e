#include "cli/slurm/console.h"

#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "cli/exit_code.h"
#include "cli/table.h"
#include "common/version.h"

namespace hai::cli::slurm {
namespace {

void say_line(const std::string& line) {
  std::fflush(stdout);
  std::fputs((printable(line) + "\n").c_str(), stderr);
}

}  // namespace

void tell(std::string_view program, std::string_view text) {
  say_line(fmt::format("{}: {}", program, text));
}

void complain(std::string_view program, std::string_view text) {
  say_line(fmt::format("{}: error: {}", program, text));
}

int fail(std::string_view program, const Status& status) {
  complain(program, status.message().empty() ? to_string(status.code()) : status.message());
  return exit_code_of(status);
}

int usage_error(std::string_view program, std::string_view text) {
  complain(program, text);
  return kUsage;
}

bool is_only_asking(Command command, const ParsedWords& words) {
  if (words.has("help") || words.has("usage")) {
    std::fputs(help_text(command).c_str(), stdout);
    return true;
  }
  if (words.has("version")) {
    std::puts(fmt::format("hai-slurm {}", version()).c_str());
    return true;
  }
  return false;
}

}  // namespace hai::cli::slurm
