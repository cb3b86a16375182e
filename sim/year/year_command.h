#pragma once
// `hai-sim year`: its options, and what it prints.

#include <functional>

namespace CLI {
class App;
}

namespace hai {

// Adds the command; call the result if the user gave it. It returns the exit code: 0, 1 if the long
// job did not last, 2 for a wrong option or a broken file.
std::function<int()> add_year_command(CLI::App& app);

}  // namespace hai
