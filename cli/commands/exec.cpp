#include "cli/commands/commands.h"
#include "cli/commands/launch.h"

namespace hai::cli {

void add_exec(CLI::App& app, Session& session) {
  add_launcher(
      app, session,
      {.verb = "exec", .description = "Submit any program", .interpreter = {}, .suffix = ""});
}

}  // namespace hai::cli
