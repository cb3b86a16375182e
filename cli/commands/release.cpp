#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

void add_release(CLI::App& app, Session& session) {
  add_job_control(app, session,
                  {.verb = "release",
                   .description = "Let held jobs start",
                   .done = "is released",
                   .help = {.examples = {{"hai release sweep-1", "it may start again"}}},
                   .action = v1::JOB_ACTION_RELEASE});
}

}  // namespace hai::cli
