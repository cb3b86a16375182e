#pragma once
// `hai-sim explore`: its options, and what it prints.

#include <functional>

namespace CLI {
class App;
}

namespace hai {

// Adds the command; call the result if the user gave it. It returns the exit code: 0, 1 if a
// promise was broken, 2 for a wrong option or a space that was not exhausted.
std::function<int()> add_explore_command(CLI::App& app);

}  // namespace hai
