#include "cli/commands/rehearsal.h"

#include <pwd.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <filesystem>

#include "common/machine/sdk_path.h"

namespace hai::cli {
namespace {

namespace fs = std::filesystem;

std::string name_of_user() {
  const passwd* entry = getpwuid(getuid());
  return entry == nullptr ? std::to_string(getuid()) : entry->pw_name;
}

std::string name_of_host() {
  char name[HOST_NAME_MAX + 1] = "";
  return gethostname(name, sizeof name) == 0 ? name : "localhost";
}

}  // namespace

std::map<std::string, std::string> rehearsal_variables(const Rehearsal& rehearsal,
                                                       const RehearsalPlace& place) {
  const std::string job = "0";  // no job has this number
  const std::string name = fs::path(place.program).stem().string();
  return {
      {"HFAI_SIMULATE", "1"},
      {"SIMULATE_SUSPEND", std::to_string(rehearsal.suspend_seconds)},
      {"HAI_JOB_ID", job},
      {"HAI_JOB_NAME", name},
      {"HAI_ATTEMPT", "1"},
      {"HAI_USER", place.user},
      {"HAI_NODE_NAME", place.host},
      {"HAI_NODE_RANK", "0"},
      {"HAI_NNODES", "1"},
      {"HAI_ZONE", ""},
      {"HAI_LEAF", ""},
      {"HAI_SUSPEND_EXIT_CODE", "85"},
      {"HAI_LOG_DIR", place.temp_dir},
      {"WORLD_SIZE", "1"},
      {"RANK", "0"},
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_IP", "127.0.0.1"},
      {"MASTER_PORT", "29510"},
      {"MARSV2_NB_NAME", name},
      {"MARSV2_TASK_ID", job},
      {"MARSV2_TASK_TYPE", "training"},
      {"MARSV2_TASK_BACKEND", "hai"},
      {"MARSV2_TASK_WORKSPACE", place.workspace},
      {"MARSV2_TASK_ENTRYPOINT", place.program},
      {"MARSV2_WHOLE_LIFE_STATE", std::to_string(rehearsal.life_state)},
      {"MARSV2_USER", place.user},
      {"MARSV2_LOG_DIR", place.temp_dir},
      {"MARSV2_NODE_NAME", place.host},
      {"MARSV2_RANK", "0"},
      {"MARSV2_SCHEDULE_ZONE", ""},
      {"NODE_NAME", place.host},
      {"CHAIN_ID", job},
      {"IBV_FORK_SAFE", "1"},
      {"HF_WATCHDOG_TIME", "1800"},
      {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"},
  };
}

void set_rehearsal(const Rehearsal& rehearsal, const std::string& program,
                   const std::string& workspace) {
  std::error_code error;
  const fs::path temp_dir = fs::temp_directory_path(error);
  const RehearsalPlace place = {.program = program,
                                .workspace = workspace,
                                .user = name_of_user(),
                                .host = name_of_host(),
                                .temp_dir = error ? "/tmp" : temp_dir.string()};
  for (const auto& [name, value] : rehearsal_variables(rehearsal, place)) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  setenv("MARSV2_UID", std::to_string(getuid()).c_str(), 1);
  // Not over what somebody set: so a program can be rehearsed from a checkpoint.
  setenv("HAI_CHECKPOINT", "", 0);
  setenv("TMPDIR", place.temp_dir.c_str(), 0);
  unsetenv("HAI_SOCKET");  // rehearsed within a job, it must not ask that one to leave
  const std::string modules = default_python_dir();
  if (modules.empty()) return;
  const char* before = std::getenv("PYTHONPATH");
  const std::string path = before == nullptr || *before == '\0' ? "" : std::string(before) + ":";
  setenv("PYTHONPATH", (path + modules).c_str(), 1);
}

}  // namespace hai::cli
