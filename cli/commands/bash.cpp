#include "cli/commands/commands.h"
#include "cli/commands/launch.h"

namespace hai::cli {

void add_bash(CLI::App& app, Session& session) {
  add_launcher(app, session,
               {.verb = "bash",
                .description = "Submit a shell script",
                .interpreter = {"bash"},
                .suffix = ".sh"});
}

}  // namespace hai::cli
