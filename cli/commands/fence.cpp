#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

void add_fence(CLI::App& app, Session& session) {
  add_node_control(
      app, session,
      {.verb = "fence",
       .description = "Vouch that silent nodes are off, so that their jobs run elsewhere at once",
       .done = "is given up",
       .help = {.examples = {{"hai fence node-7 --yes --reason \"pulled the plug\"",
                              "its jobs are requeued at once"}}},
       .action = v1::NODE_ACTION_FENCE,
       .danger = "A job whose processes still run there would run twice: make sure that the nodes "
                 "are switched off or have no processes of jobs."});
}

}  // namespace hai::cli
