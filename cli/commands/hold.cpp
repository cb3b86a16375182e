#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

void add_hold(CLI::App& app, Session& session) {
  add_job_control(
      app, session,
      {.verb = "hold",
       .description = "Do not start waiting jobs until released",
       .done = "is held",
       .help = {.examples = {{"hai hold sweep-1 sweep-2", "they wait until hai release"}}},
       .action = v1::JOB_ACTION_HOLD});
}

}  // namespace hai::cli
