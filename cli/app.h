#pragma once
// The command line of `hai`: parses, runs the verb, returns the exit code.

#include <string>
#include <vector>

namespace hai::cli {

int run_app(const std::vector<std::string>& words);

}  // namespace hai::cli
