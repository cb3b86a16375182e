#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

void add_resume(CLI::App& app, Session& session) {
  add_job_control(
      app, session,
      {.verb = "resume",
       .description = "Let suspended jobs run again",
       .done = "is resumed",
       .help = {.examples = {{"hai resume train", "it takes its place in the queue again"}}},
       .action = v1::JOB_ACTION_RESUME});
}

}  // namespace hai::cli
