#pragma once
// An interactive job: it waits like any other for its node, and then its program has the terminal
// of whoever submitted it. The job lasts as long as that program does.

#include <cstdint>
#include <string>
#include <vector>

#include "common/job_spec.h"
#include "common/status.h"

namespace hai::cli {

class Client;
class Session;

// Makes `spec` a job that waits for `command`, run in a terminal: all but the program stays as it
// is. An error: it is no job of one node, or this process has no terminal.
Status make_interactive(JobSpec& spec, const std::vector<std::string>& command);

// The same of a job that has a program of its own on its first node: the script that this program
// is to run there. The command then has the variables that the script was given.
Result<std::string> make_terminal_script(JobSpec& spec);

// Waits for such a job and runs its command in this terminal. The command's exit code, 130 if the
// person has left it.
int follow_terminal(Session& session, Client& client, int64_t job,
                    const std::vector<std::string>& command);

}  // namespace hai::cli
