#pragma once
// What `hai python`, `bash` and `exec` share: the program and its arguments become a job that runs
// in the current directory; without a "--" the program runs right here instead.

#include <string>
#include <vector>

#include "common/job_spec.h"

namespace CLI {
class App;
}

namespace hai::cli {

class Session;

struct Launcher {
  std::string verb;
  std::string description;
  std::vector<std::string> interpreter;
  std::string suffix;  // of the files that the agent starts with this interpreter by itself
  bool keeps_environment = false;  // the Python environment that is active here goes with it
};

void add_launcher(CLI::App& app, Session& session, const Launcher& launcher);

// Fills workspace, entrypoint, parameters and a name. `program` is never empty; where the spec has
// an image, or a Python environment, it may be one of that.
Status spec_of_program(const Launcher& launcher, const std::vector<std::string>& program,
                       const std::string& directory, JobSpec& spec);

}  // namespace hai::cli
