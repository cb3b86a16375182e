#pragma once
// `hai __complete WORD...`: what the shells' scripts ask at every TAB. Never says anything but
// candidates, never takes longer than a person waits, and ends with 0 whatever happens.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hai::cli {

int complete(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace hai::cli
