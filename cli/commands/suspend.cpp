#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

void add_suspend(CLI::App& app, Session& session) {
  add_job_control(app, session,
                  {.verb = "suspend",
                   .description = "Let jobs save and give their nodes away until resumed",
                   .done = "is being suspended",
                   .help = {.examples = {{"hai suspend train",
                                          "save, give the nodes away, wait for hai resume"}}},
                   .action = v1::JOB_ACTION_SUSPEND});
}

}  // namespace hai::cli
