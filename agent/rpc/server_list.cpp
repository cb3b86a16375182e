#include "agent/rpc/server_list.h"

#include <algorithm>

#include "common/host_port.h"

namespace hai {

std::vector<std::string> all_servers(std::vector<std::string> configured,
                                     const std::vector<std::string>& told) {
  const size_t most = configured.size() + kServersMax;
  const auto is_here = [](const std::string& server) {
    return is_loopback(split_host_port(server).host);
  };
  const bool stays_here = std::ranges::all_of(configured, is_here);
  for (const std::string& server : told) {
    if (configured.size() == most) break;
    const bool is_one = is_host_port(server) && (!stays_here || is_here(server));
    if (is_one && std::ranges::count(configured, server) == 0) configured.push_back(server);
  }
  return configured;
}

}  // namespace hai
