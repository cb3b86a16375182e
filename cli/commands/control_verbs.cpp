// The verbs that are words and an action of the Api: a new one is a row here.

#include "cli/commands/commands.h"
#include "cli/commands/control.h"
#include "hai/v1/api.pb.h"

namespace hai::cli {
namespace {

// In the order of --help, as the rows.
std::vector<ControlVerb> job_verbs() {
  return {
      {.verb = "stop",
       .description = "End jobs for good",
       .done = "is being stopped",
       .help = {.examples = {{"hai stop train", "by name, or by id: hai stop 17"},
                             {"hai stop 17 18 19 --reason \"wrong data\"", "several, and why"},
                             {"hai stop 17-29 'sweep-*'", "ranges and patterns: of your own"},
                             {"hai stop --state queued --tag lr", "those of yours that are so"}}},
       .action = v1::JOB_ACTION_STOP},
      {.verb = "suspend",
       .description = "Let jobs save and give their nodes away until resumed",
       .done = "is being suspended",
       .help = {.examples = {{"hai suspend train",
                              "save, give the nodes away, wait for hai resume"}}},
       .action = v1::JOB_ACTION_SUSPEND},
      {.verb = "resume",
       .description = "Let suspended jobs run again",
       .done = "is resumed",
       .help = {.examples = {{"hai resume train", "it takes its place in the queue again"}}},
       .action = v1::JOB_ACTION_RESUME},
      {.verb = "requeue",
       .description = "Let running jobs save, leave their nodes and start again by themselves",
       .done = "is being requeued",
       .help = {.examples = {{"hai requeue train", "start again, from its last checkpoint"},
                             {"hai cordon node-7 && hai requeue train",
                              "away from a node that looks slow"}}},
       .action = v1::JOB_ACTION_REQUEUE},
      {.verb = "hold",
       .description = "Do not start waiting jobs until released",
       .done = "is held",
       .help = {.examples = {{"hai hold sweep-1 sweep-2", "they wait until hai release"}}},
       .action = v1::JOB_ACTION_HOLD},
      {.verb = "release",
       .description = "Let held jobs start",
       .done = "is released",
       .help = {.examples = {{"hai release sweep-1", "it may start again"}}},
       .action = v1::JOB_ACTION_RELEASE}};
}

std::vector<ControlVerb> node_verbs() {
  return {
      {.verb = "cordon",
       .description = "Place nothing new on nodes",
       .done = "is cordoned",
       .help = {.examples = {{"hai cordon node-3 --reason \"new cable tomorrow\"",
                              "running jobs stay"}}},
       .action = v1::NODE_ACTION_CORDON},
      {.verb = "drain",
       .description = "Place nothing new on nodes and move their jobs away",
       .done = "is being drained",
       .help = {.examples = {{"hai drain node-[1-4] --reason \"firmware\"",
                              "suspend what runs there; it goes on elsewhere"},
                             {"hai drain node-7 --reason \"new rack\" --deadline 4h",
                              "let what runs end by itself for four hours"},
                             {"hai whatif drain node-[1-4]", "see first whom it would hit"}}},
       .action = v1::NODE_ACTION_DRAIN,
       .deadline = "let what runs go on until then: 2h, or 2026-11-20T08:00:00Z"},
      {.verb = "undrain",
       .description = "Open nodes again, drained or cordoned",
       .done = "is open",
       .help = {.examples = {{"hai undrain node-[1-4]", "they take jobs again"}}},
       .action = v1::NODE_ACTION_UNDRAIN},
      {.verb = "fence",
       .description = "Vouch that silent nodes are off, so that their jobs run elsewhere at once",
       .done = "is given up",
       .help = {.examples = {{"hai fence node-7 --yes --reason \"pulled the plug\"",
                              "its jobs are requeued at once"}}},
       .action = v1::NODE_ACTION_FENCE,
       .danger = "A job whose processes still run there would run twice: make sure that the nodes "
                 "are switched off or have no processes of jobs."},
      {.verb = "validate",
       .description = "Test nodes: they take no new jobs until they have passed",
       .done = "is validated",
       .help = {.examples = {{"hai validate node-7", "its tests run as a job"},
                             {"hai validate node-[1-8] --together",
                              "find the one that fails with others"}}},
       .action = v1::NODE_ACTION_VALIDATE,
       .together = "in small groups, to find which of them fails with others"}};
}

}  // namespace

void add_job_verbs(CLI::App& app, Session& session) {
  for (const ControlVerb& verb : job_verbs()) add_job_control(app, session, verb);
}

void add_node_verbs(CLI::App& app, Session& session) {
  for (const ControlVerb& verb : node_verbs()) add_node_control(app, session, verb);
}

}  // namespace hai::cli
