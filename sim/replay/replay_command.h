#pragma once
// hai-sim replay: a recorded log through the production code.

#include <functional>

namespace CLI {
class App;
}

namespace hai {

// Adds the command; the function runs it once it has been parsed.
std::function<int()> add_replay_command(CLI::App& app);

}  // namespace hai
