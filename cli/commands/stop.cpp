#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

void add_stop(CLI::App& app, Session& session) {
  add_job_control(
      app, session,
      {.verb = "stop",
       .description = "End jobs for good",
       .done = "is being stopped",
       .help = {.examples = {{"hai stop train", "by name, or by id: hai stop 17"},
                             {"hai stop 17 18 19 --reason \"wrong data\"", "several, and why"}}},
       .action = v1::JOB_ACTION_STOP});
}

}  // namespace hai::cli
