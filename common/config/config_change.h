#pragma once
// What has changed in a config file since a program has read it, and what of that the program takes
// while it runs.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hai {

// Each value of a file by its path, a list as one value: {"log.level": "info"}.
using ConfigKeys = std::map<std::string, std::string>;

struct ConfigChange {
  std::vector<std::string> taken;    // paths, in order
  std::vector<std::string> waiting;  // for a restart
};

// `reloaded`: the paths that are taken; one that ends with "." stands for all below it.
ConfigChange compare_configs(const ConfigKeys& running, const ConfigKeys& file,
                             std::span<const std::string_view> reloaded);
// What the program runs with after it has taken what it takes.
ConfigKeys keys_after(ConfigKeys running, const ConfigKeys& file, const ConfigChange& change);

}  // namespace hai
