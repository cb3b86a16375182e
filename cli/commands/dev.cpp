#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/dev/topology.h"
#include "cli/dev/verbs.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

struct DevOptions {
  DevUpOptions up;
  std::vector<std::string> targets;
  std::vector<std::string> words;
  bool purge = false;
  OutputFormat output = OutputFormat::table;
};

CLI::App* add_verb(CLI::App& dev, const char* name, const char* text, DevPlace& place) {
  CLI::App* verb = dev.add_subcommand(name, text);
  verb->add_option("--name", place.name, "of the cluster; else --context, the current one, or dev")
      ->type_name("CLUSTER");
  verb->add_option("--data", place.data, "its data directory")->type_name("DIRECTORY");
  return verb;
}

void add_up(CLI::App& dev, Session& session, const std::shared_ptr<DevOptions>& options) {
  DevUpOptions& up = options->up;
  CLI::App* verb = add_verb(dev, "up", "Start one, or what is missing of one", up.place);
  verb->add_option("--nodes", up.nodes, "number of nodes, 4 by default")
      ->check(CLI::Range(1, kDevNodesMax));
  verb->add_option("--fleet", up.fleet,
                   "instead of --nodes: so many nodes in one process, real but for their ranks, "
                   "which are timers: `sleep N` ends after N seconds")
      ->check(CLI::Range(1, kDevFleetMax));
  verb->add_option("--rank-seconds", up.rank_seconds,
                   "how long other programs than sleep run in a fleet; 0 = until told to end")
      ->check(CLI::Range(0.0, 1e7));
  verb->add_option("--gpus", up.gpus,
                   "simulated GPUs per node, 8 by default; 0 = this machine's own, if it has any")
      ->check(CLI::Range(0, 64));
  verb->add_option("--topology", up.topology,
                   "one-zone, two-zone or a YAML list of {name, zone, leaf, group, gpus}; one-zone "
                   "by default, two-zone for a fleet")
      ->type_name("FILE");
  verb->add_flag("--insecure", up.is_insecure,
                 "plain text on both ports, kept for the next start: for benchmarks, and for "
                 "programs that cannot be told of its CA. Otherwise a new one speaks TLS");
  verb->add_option("--grpc-port", up.grpc_port, "0 = any free one")
      ->type_name("PORT")
      ->check(CLI::Range(0, 65'535));
  verb->add_option("--http-port", up.http_port, "0 = any free one")
      ->type_name("PORT")
      ->check(CLI::Range(0, 65'535));
  for (const char* option : {"sys-root", "proc-root", "kmsg", "nvml-library"}) {
    verb->add_option(std::string("--") + option, up.health_roots[option],
                     "where health checks look instead, see hai-agent --help")
        ->type_name("[NODE=]PATH");
  }
  verb->add_option("--agent-config", up.agent_settings,
                   "more settings of agents, as YAML, e.g. health.limits or repair; a node that "
                   "has a file of "
                   "its own does not read the others'")
      ->type_name("[NODE=]FILE");
  verb->add_option("--knob", up.knobs, "a setting of the server, e.g. agent_lease=10s")
      ->type_name("NAME=VALUE");
  verb->callback([&session, options] { session.exit_code = dev_up(session, options->up); });
}

}  // namespace

void add_dev(CLI::App& app, Session& session) {
  CLI::App* dev =
      app.add_subcommand("dev", "Run a whole cluster on this machine")->group("Development");
  dev->require_subcommand(1);
  session.help[dev] = {
      .details =
          "A dev cluster is the real thing on one machine: a PostgreSQL of its own, one server, "
          "and agents with simulated GPUs. Its context becomes the current one, and you are an "
          "admin there.",
      .examples = {{"hai dev up", "4 nodes with 8 simulated GPUs each"},
                   {"hai dev up --name big --fleet 1250", "1,250 nodes in one process"},
                   {"hai dev status", "its processes and addresses"},
                   {"hai dev kill node:node-2", "as if the plug were pulled"},
                   {"hai dev start node:node-2", "and back again"},
                   {"hai dev fleet help", "how nodes of a fleet are made to fail"},
                   {"hai dev down --purge", "stop it and forget its data"}}};
  const auto options = std::make_shared<DevOptions>();
  add_up(*dev, session, options);
  CLI::App* down = add_verb(*dev, "down", "Stop it; the data stays", options->up.place);
  down->add_flag("--purge", options->purge, "remove the data too");
  down->callback([&session, options] {
    session.exit_code = dev_down(session, options->up.place, options->purge);
  });
  CLI::App* status = add_verb(*dev, "status", "Show its processes", options->up.place);
  add_output_option(*status, options->output);
  status->callback([&session, options] {
    session.exit_code = dev_status(session, options->up.place, options->output);
  });
  CLI::App* fleet = add_verb(*dev, "fleet", "Make nodes of a fleet fail", options->up.place);
  fleet
      ->add_option(
          "COMMAND", options->words,
          "kill, silence, slow-launch, fail-launch, fault, mend or restore, and which nodes; "
          "status; help")
      ->required();
  fleet->callback([&session, options] {
    session.exit_code = dev_fleet(session, options->up.place, options->words);
  });
  const char* what = "server, postgres, fleet, agent:NODES or node:NODES; NODES as in node-[1-4,7]";
  CLI::App* kill = add_verb(*dev, "kill", "Kill -9 parts of it", options->up.place);
  kill->add_option("WHAT", options->targets, what)->required();
  kill->callback([&session, options] {
    session.exit_code = dev_kill(session, options->up.place, options->targets);
  });
  CLI::App* start = add_verb(*dev, "start", "Start parts of it again", options->up.place);
  start->add_option("WHAT", options->targets, what)->required();
  start->callback([&session, options] {
    session.exit_code = dev_start(session, options->up.place, options->targets);
  });
}

}  // namespace hai::cli
