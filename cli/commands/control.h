#pragma once
// What the verbs of control_verbs.cpp share: several names, one answer each, and an exit code for
// the worst of them.

#include <string>

#include "cli/verb_help.h"

namespace CLI {
class App;
}

namespace hai::cli {

class Session;

struct ControlVerb {
  std::string verb;  // "stop"
  std::string description;
  std::string done;      // "stopping": what the server has begun to do
  VerbHelp help;         // examples above all
  int action = 0;        // v1::JobAction or v1::NodeAction
  std::string together;  // help of --together, if the verb has it
  std::string deadline;  // help of --deadline, if the verb has it
  bool sets = false;     // has --group, --zone, --leaf, --labels and --reset
  std::string danger;    // if not empty: what --yes takes the blame for, asked on a terminal
};

void add_job_control(CLI::App& app, Session& session, const ControlVerb& verb);
void add_node_control(CLI::App& app, Session& session, const ControlVerb& verb);

}  // namespace hai::cli
