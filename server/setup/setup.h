#pragma once
// `hai-server setup`: from a machine with the programs and a PostgreSQL to a server that runs. It
// may be run again at any time: what is there stays, what is missing is made.

#include "common/status.h"
#include "server/setup/setup_options.h"

namespace hai {

inline constexpr const char* kServerUnit = "hai-server.service";
inline constexpr const char* kServerUnitConfig =
    "/etc/hai/server.yaml";  // what the unit starts with

// Says on standard output what was done and what comes next. An error says what to do, and what was
// made until then stays for the next run; an error before anything was made has changed nothing.
Status run_setup(const SetupOptions& options);

}  // namespace hai
