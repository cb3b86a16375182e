#include "agent/os/launch_file.h"

#include "common/entrypoint.h"
#include "common/launch_refusal.h"
#include "common/shell_words.h"
#include "common/signal_name.h"

namespace hai {

namespace {

// A relative entrypoint is in the workspace. One without any slash may also be a program of the
// node: the shim looks in the workspace first, then in PATH.
std::vector<std::string> make_argv(const LaunchRank& order, std::vector<std::string> parameters) {
  std::vector<std::string> argv = interpreter_of(order.entrypoint);
  argv.push_back(order.entrypoint);
  for (std::string& parameter : parameters) argv.push_back(std::move(parameter));
  return argv;
}

bool has_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

Status check_texts(const LaunchRank& order) {
  if (has_nul(order.workspace) || has_nul(order.entrypoint) || has_nul(order.parameters)) {
    return invalid_argument("workspace, entrypoint or parameters hold a NUL byte");
  }
  const auto refusal = order.environments.find(std::string(kLaunchRefusal));
  if (refusal != order.environments.end()) return invalid_argument("{}", refusal->second);
  for (const auto& [name, value] : order.environments) {
    if (name.empty() || name.find('=') != std::string::npos || has_nul(name) || has_nul(value)) {
      return invalid_argument("environment variable {} can't be set: bad name, or a NUL byte",
                              name);
    }
  }
  return ok();
}

}  // namespace

Result<LaunchFile> make_launch_file(const LaunchRank& order, const LocalPaths& paths) {
  RETURN_IF_ERROR(check_texts(order));
  if (!order.workspace.starts_with('/')) {
    return invalid_argument("workspace {} is not an absolute path", order.workspace);
  }
  if (order.entrypoint.empty()) return invalid_argument("the job has no entrypoint");
  Result<std::vector<std::string>> parameters = split_parameters(order.parameters);
  if (!parameters.is_ok()) return parameters.status();
  const Result<int> signal =
      order.suspend_signal.empty() ? Result<int>(0) : parse_signal(order.suspend_signal);
  if (!signal.is_ok()) return signal.status();

  LaunchFile launch;
  launch.key = order.key;
  launch.proof = order.proof;
  launch.user = order.user;
  launch.gpus = order.gpus;
  launch.workspace = order.workspace;
  launch.entrypoint = order.entrypoint;
  launch.suspend_signal = signal.value();
  launch.watchdog = order.watchdog;
  launch.whole_life_state = life_state_of(order);
  launch.program = order.program;
  launch.image = order.image;
  launch.log_dir = paths.log_dir;
  launch.temp_dir = paths.temp_dir;
  const std::vector<std::string> argv = make_argv(order, std::move(parameters).value());
  for (int process = 0; process < process_count(order); ++process) {
    launch.processes.push_back({argv, build_environment(order, paths, process)});
  }
  return launch;
}

}  // namespace hai
