#pragma once
// Starts one main process of the rank: own session, joined to the rank's cgroups, in its own
// mounts, as the job's user, without privileges, killed by the kernel should the shim die. Looks at
// workspace and entrypoint only in the new process, as that user: a hung file system must not hang
// the shim.

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "agent/os/files.h"
#include "agent/os/launch_file.h"
#include "agent/shim/confines.h"
#include "agent/shim/user_identity.h"
#include "common/status.h"

namespace hai {

struct StartedProgram {
  pid_t pid = 0;
  UniqueFd output;  // stdout and stderr; non-blocking
  UniqueFd
      failure;  // end of file once the program runs, or a LaunchFailure before that; non-blocking
};

enum class LaunchStep : int {
  session,  // the node's, down to privileges
  cgroup,
  output,
  mounts,
  privileges,
  user,  // the job's from here on
  workspace,
  python,  // the environment that the job asks for
  entrypoint,
  permission,
  execute
};
struct LaunchFailure {
  LaunchStep step = LaunchStep::session;
  int error = 0;
};

// What a directory of accounts is asked for, which may take long: to be made before it is judged
// whether the rank may still start.
struct ProgramTexts {
  std::vector<std::string> environment;  // "NAME=value"
  std::string python;                    // python_folder()
};
ProgramTexts make_program_texts(const LaunchFile& launch, const LaunchProcess& process,
                                const UserIdentity& user);

Result<StartedProgram> start_program(const LaunchFile& launch, const LaunchProcess& process,
                                     ProgramTexts texts, const UserIdentity& user,
                                     const Confines& confines);

// Whether what failed is the node's and not the job's: elsewhere it may go well.
bool is_of_the_node(LaunchStep step);
// For the job's owner.
std::string describe(const LaunchFailure& failure, const LaunchFile& launch,
                     const LaunchProcess& process);

}  // namespace hai
