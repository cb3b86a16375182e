#pragma once
// The program: what comes from keyboard, server, clock and signals changes data and view; then the
// screen shows them. One thread but for the feed and the inspector.

#include "cli/top/view.h"

namespace hai::cli {
class Client;
class Session;
}  // namespace hai::cli

namespace hai::cli::top {

// Until the user quits. Standard input and output must be a terminal. Returns the exit code.
int run_top(Session& session, Client& client, View view);

// One frame as text.
int print_once(Session& session, Client& client, View view);

}  // namespace hai::cli::top
