#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands/commands.h"
#include "cli/dev/topology.h"
#include "cli/dev/verbs.h"
#include "cli/session.h"

namespace hai::cli {
namespace {

struct Options {
  DevUpOptions up;
  std::vector<std::string> targets;
  bool purge = false;
  OutputFormat output = OutputFormat::table;
};

CLI::App* add_verb(CLI::App& dev, const char* name, const char* text, DevPlace& place) {
  CLI::App* verb = dev.add_subcommand(name, text);
  verb->add_option("--name", place.name, "of the cluster; dev by default");
  verb->add_option("--data", place.data, "its data directory");
  return verb;
}

void add_up(CLI::App& dev, Session& session, const std::shared_ptr<Options>& options) {
  DevUpOptions& up = options->up;
  CLI::App* verb = add_verb(dev, "up", "Start one, or what is missing of one", up.place);
  verb->add_option("--nodes", up.nodes, "number of nodes, 4 by default")
      ->check(CLI::Range(1, kDevNodesMax));
  verb->add_option("--gpus", up.gpus, "simulated GPUs per node, 8 by default")
      ->check(CLI::Range(0, 64));
  verb->add_option("--topology", up.topology_file, "YAML list of {name, zone, leaf, group, gpus}");
  verb->add_option("--grpc-port", up.grpc_port, "0 = any free one")->check(CLI::Range(0, 65'535));
  verb->add_option("--http-port", up.http_port, "0 = any free one")->check(CLI::Range(0, 65'535));
  verb->add_option("--knob", up.knobs, "NAME=VALUE of the server's config, e.g. agent_lease=10s");
  verb->callback([&session, options] { session.exit_code = dev_up(session, options->up); });
}

}  // namespace

void add_dev(CLI::App& app, Session& session) {
  CLI::App* dev =
      app.add_subcommand("dev", "Run a whole cluster on this machine")->group("Development");
  dev->require_subcommand(1);
  const auto options = std::make_shared<Options>();
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
  const char* what = "server, postgres, agent:NAME or node:NAME";
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
