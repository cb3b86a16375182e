#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

void add_stop(CLI::App& app, Session& session) {
  add_job_control(app, session,
                  {.verb = "stop",
                   .description = "End jobs for good",
                   .done = "is being stopped",
                   .action = v1::JOB_ACTION_STOP});
}

}  // namespace hai::cli
