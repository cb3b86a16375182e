#include "cli/slurm/step/run_job.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>

#include "cli/slurm/batch_script.h"
#include "cli/slurm/step/host.h"
#include "cli/slurm/step/peer.h"
#include "cli/slurm/step/task_environment.h"
#include "cli/slurm/step/work_directory.h"

namespace hai::cli::slurm {
namespace {

int complain(const Status& status) {
  write_all(STDERR_FILENO, fmt::format("hai-slurm: error: {}\n", status.message()));
  return 1;
}

EnvironmentMap own_environment() {
  std::vector<std::string> texts;
  for (char** text = ::environ; *text != nullptr; ++text) texts.emplace_back(*text);
  return map_of(texts);
}

std::string value_of(const EnvironmentMap& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

int run_host(const JobPlan& plan, const EnvironmentMap& environment, const Place& here,
             const WorkDirectory& directory) {
  Result<std::vector<Peer>> peers = gather_peers(here);
  if (!peers.is_ok()) return complain(peers.status());
  BatchHost host(plan, environment, std::move(peers.value()), here.node, directory);
  if (!plan.command.empty()) return host.run_command();
  const std::string script = value_of(environment, kScriptVariable);
  const auto interpreter = interpreter_of(script, "script");
  return interpreter.is_ok() ? host.run_script(script, interpreter.value())
                             : complain(interpreter.status());
}

}  // namespace

int run_job(const std::vector<std::string_view>& commands) {
  EnvironmentMap environment = own_environment();
  const Result<JobPlan> plan = parse_plan(value_of(environment, kPlanVariable));
  if (!plan.is_ok()) return complain(plan.status());
  const Place here = {.rank = std::atoi(value_of(environment, "HAI_NODE_RANK").c_str()),
                      .ranks = std::max(1, std::atoi(value_of(environment, "HAI_NNODES").c_str())),
                      .attempt = value_of(environment, "HAI_ATTEMPT"),
                      .node = value_of(environment, "HAI_NODE_NAME"),
                      .master_address = value_of(environment, "MASTER_ADDR"),
                      .master_port = std::atoi(value_of(environment, "MASTER_PORT").c_str()),
                      .key = value_of(environment, kKeyVariable)};
  if (here.key.empty()) return complain(failed_precondition("{} is not set", kKeyVariable));
  const Result<WorkDirectory> directory = WorkDirectory::make(environment, commands);
  if (!directory.is_ok()) return complain(directory.status());
  environment[kBinVariable] = directory.value().bin();
  if (here.rank == 0) return run_host(plan.value(), environment, here, directory.value());
  Result<FrameChannel> channel = join_host(here);
  if (!channel.is_ok()) return complain(channel.status());
  return run_peer(std::move(channel.value()), environment, plan.value().signal);
}

}  // namespace hai::cli::slurm
