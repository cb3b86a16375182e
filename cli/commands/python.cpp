#include "cli/commands/commands.h"
#include "cli/commands/launch.h"

namespace hai::cli {

void add_python(CLI::App& app, Session& session) {
  add_launcher(app, session,
               {.verb = "python",
                .description = "Submit a Python program",
                .interpreter = {"python3", "-u"},
                .suffix = ".py",
                .keeps_environment = true});
}

}  // namespace hai::cli
