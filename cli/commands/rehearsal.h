#pragma once
// HAI's rehearsal of a job on this machine: one rank on one node, without a cluster. hai.client
// believes HFAI_SIMULATE and SIMULATE_SUSPEND; the rest is what a job finds (docs/contract.md, What
// a job sees), but for HAI_SOCKET, since nobody answers.

#include <map>
#include <string>

namespace hai::cli {

struct Rehearsal {
  int suspend_seconds = -1;  // after so long the program is asked to save; -1 = never
  int life_state = 0;
};

// Where a rehearsal runs.
struct RehearsalPlace {
  std::string program;    // as it was named
  std::string workspace;  // the current directory
  std::string user;
  std::string host;
  std::string temp_dir;
};

std::map<std::string, std::string> rehearsal_variables(const Rehearsal& rehearsal,
                                                       const RehearsalPlace& place);

// Sets them for this process and what it becomes, with the modules hai and hfai last in PYTHONPATH.
void set_rehearsal(const Rehearsal& rehearsal, const std::string& program,
                   const std::string& workspace);

}  // namespace hai::cli
