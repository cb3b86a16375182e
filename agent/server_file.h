#pragma once
// What an agent process leaves to the next one of the servers that it was told of: DATA/servers,
// one host:port a line. The config file stays as it is.

#include <string>
#include <vector>

#include "common/status.h"

namespace hai {

// None if there is no such file.
std::vector<std::string> load_servers(const std::string& data_dir);
Status save_servers(const std::string& data_dir, const std::vector<std::string>& servers);

}  // namespace hai
