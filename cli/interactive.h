#pragma once
// An interactive job: it waits like any other for its node, and then its program has the terminal
// of whoever submitted it. The job lasts as long as that program does.

#include <string>
#include <vector>

#include "common/job_spec.h"

namespace hai::cli {

class Session;

// Of `spec`, which is of one node, everything but the program counts. Returns the program's exit
// code, 130 if the person has left it.
int run_interactive(Session& session, JobSpec spec, const std::vector<std::string>& command);

}  // namespace hai::cli
