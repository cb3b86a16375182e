#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

void add_undrain(CLI::App& app, Session& session) {
  add_node_control(app, session,
                   {.verb = "undrain",
                    .description = "Open nodes again, drained or cordoned",
                    .done = "is open",
                    .help = {.examples = {{"hai undrain node-[1-4]", "they take jobs again"}}},
                    .action = v1::NODE_ACTION_UNDRAIN});
}

}  // namespace hai::cli
