#include "agent/run_fleet.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <random>

#include "agent/fleet/control_socket.h"
#include "agent/fleet/fleet.h"
#include "agent/fleet/fleet_control.h"
#include "common/asio_loop.h"
#include "common/log.h"
#include "common/open_files.h"
#include "common/tls/authority_folder.h"
#include "common/version.h"

namespace hai {

namespace {

constexpr int kFleetMax = 15'000;  // each is a connection, so a file descriptor
constexpr int kOtherFiles = 100;

Status allow_files(int wanted) {
  const long most = allow_many_open_files();
  if (most >= wanted) return ok();
  return failed_precondition("{} files may be open (ulimit -Hn), the fleet needs {}", most, wanted);
}

uint64_t random_seed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

}  // namespace

void add_fleet_options(CLI::App& app, FleetArguments& arguments) {
  app.add_option("--fleet", arguments.nodes,
                 "be so many nodes at once, whose ranks are timers: for scale tests. `sleep N`, "
                 "true and false do what they say, other programs see --rank-seconds")
      ->check(CLI::Range(1, kFleetMax));
  app.add_option("--topology", arguments.topology, "of the fleet: one-zone or two-zone")
      ->check(CLI::IsMember({"one-zone", "two-zone"}))
      ->capture_default_str();
  app.add_option("--rank-seconds", arguments.rank_seconds,
                 "how long programs other than sleep run in the fleet; 0 = until told to end")
      ->check(CLI::Range(0.0, 1e7));
  app.add_option("--control", arguments.control,
                 "Unix socket that takes faults for the fleet, a line each (try: help); "
                 "fleet.sock in data_dir by default");
  app.add_option("--authority", arguments.authority,
                 "folder of `hai-server ca`: each node of the fleet makes itself a certificate");
}

Status run_fleet(const AgentConfig& config, const std::string& token,
                 const FleetArguments& arguments) {
  RETURN_IF_ERROR(allow_files(arguments.nodes + kOtherFiles));
  const Result<FabricShape> shape = parse_fabric_shape(arguments.topology);
  RETURN_IF_ERROR(shape.status());
  FleetOptions options{.nodes = arguments.nodes, .shape = shape.value()};
  if (arguments.rank_seconds > 0) {
    options.rank_length = Duration(static_cast<int64_t>(arguments.rank_seconds * 1e6));
  }
  if (!arguments.authority.empty()) {
    Result<KeyAndCertificate> authority = AuthorityFolder(arguments.authority).read();
    RETURN_IF_ERROR(authority.status());
    options.authority = std::move(authority).value();
  }
  AsioLoop loop;
  Fleet fleet(loop, config, token, options, random_seed());
  FleetControl control(loop, fleet);
  const Result<std::unique_ptr<ControlSocket>> socket = ControlSocket::open(
      loop.io_context(),
      arguments.control.empty() ? config.data_dir + "/fleet.sock" : arguments.control,
      [&control](std::string_view line) { return control.execute(line); });
  RETURN_IF_ERROR(socket.status());
  loop.on_signals({SIGINT, SIGTERM}, [&loop](int signal) {
    log_info("agent_stopping", {{"signal", signal}});
    loop.stop();
  });
  log_info("fleet_started", {{"version", version()}, {"nodes", arguments.nodes}});
  fleet.start();
  loop.run();
  log_info("agent_stopped");
  return ok();
}

}  // namespace hai
