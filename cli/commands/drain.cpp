#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

void add_drain(CLI::App& app, Session& session) {
  add_node_control(app, session,
                   {.verb = "drain",
                    .description = "Place nothing new on nodes and move their jobs away",
                    .done = "is being drained",
                    .action = v1::NODE_ACTION_DRAIN});
}

}  // namespace hai::cli
