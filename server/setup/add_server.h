#pragma once
// Makes another machine a further server of the cluster, over ssh, from one that is set up.

#include <string>

#include "common/status.h"
#include "server/setup/setup_options.h"

namespace hai {

// Installs the packages there if they are not, and gives `hai-server setup --bundle -` its bundle.
// What is done already stays as it is, so that it can be run again.
Status add_server(const SetupOptions& options);

// What a shell there is told. `version`: of the packages here, which it gets, too; "" = this
// program is of no package, and it gets the newest. Here for tests.
std::string further_server_script(const SetupOptions& options, const std::string& version);

}  // namespace hai
