#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {

void add_drain(CLI::App& app, Session& session) {
  add_node_control(
      app, session,
      {.verb = "drain",
       .description = "Place nothing new on nodes and move their jobs away",
       .done = "is being drained",
       .help = {.examples = {{"hai drain node-[1-4] --reason \"firmware\"",
                              "suspend what runs there; it goes on elsewhere"},
                             {"hai drain node-7 --reason \"new rack\" --deadline 4h",
                              "let what runs end by itself for four hours"},
                             {"hai whatif drain node-[1-4]", "see first whom it would hit"}}},
       .action = v1::NODE_ACTION_DRAIN,
       .deadline = "let what runs go on until then: 2h, or 2026-11-20T08:00:00Z"});
}

}  // namespace hai::cli
