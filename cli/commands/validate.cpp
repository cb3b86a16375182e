#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

void add_validate(CLI::App& app, Session& session) {
  add_node_control(app, session,
                   {.verb = "validate",
                    .description = "Test nodes: they take no new jobs until they have passed",
                    .done = "is validated",
                    .help = {.examples = {{"hai validate node-7", "its tests run as a job"},
                                          {"hai validate node-[1-8] --together",
                                           "find the one that fails with others"}}},
                    .action = v1::NODE_ACTION_VALIDATE,
                    .together = "in small groups, to find which of them fails with others"});
}

}  // namespace hai::cli
