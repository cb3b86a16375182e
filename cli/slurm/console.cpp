#include "cli/slurm/console.h"

#include <fmt/core.h>

#include <cstdio>
#include <string>

#include "cli/exit_code.h"
#include "cli/table.h"

namespace hai::cli::slurm {
namespace {

void say_line(const std::string& line) {
  std::fflush(stdout);
  std::fputs((printable(line) + "\n").c_str(), stderr);
}

}  // namespace

void tell(Command command, std::string_view text) {
  say_line(fmt::format("{}: {}", to_string(command), text));
}

void complain(Command command, std::string_view text) {
  say_line(fmt::format("{}: error: {}", to_string(command), text));
}

int fail(Command command, const Status& status) {
  complain(command, status.message().empty() ? to_string(status.code()) : status.message());
  return exit_code_of(status);
}

int usage_error(Command command, std::string_view text) {
  complain(command, text);
  return kUsage;
}

}  // namespace hai::cli::slurm
