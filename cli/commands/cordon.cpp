#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

void add_cordon(CLI::App& app, Session& session) {
  add_node_control(app, session,
                   {.verb = "cordon",
                    .description = "Place nothing new on nodes",
                    .done = "is cordoned",
                    .help = {.examples = {{"hai cordon node-3 --reason \"new cable tomorrow\"",
                                           "running jobs stay"}}},
                    .action = v1::NODE_ACTION_CORDON});
}

}  // namespace hai::cli
