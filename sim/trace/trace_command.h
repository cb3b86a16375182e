#pragma once
// `hai-sim trace`: its options, and what it prints.

#include <functional>
#include <memory>

namespace CLI {
class App;
}

namespace hai {

// Adds the command; call the result if the user gave it. It returns the exit code: 0, 1 if not all
// jobs ended, 2 for a wrong option or a broken file.
std::function<int()> add_trace_command(CLI::App& app);

}  // namespace hai
