#pragma once
// `hai-sim hunt`, and what `hai-sim chaos` does with worlds in files.

#include <functional>
#include <string>

#include "common/status.h"
#include "sim/world_plan.h"

namespace CLI {
class App;
}

namespace hai {

// Adds the command; call what it returns when it was chosen. Exit status: 0 nothing found, 1 a
// promise is broken, 2 usage.
std::function<int()> add_hunt_command(CLI::App& app);

Result<WorldPlan> read_world(const std::string& file);
Status write_world(const std::string& file, const WorldPlan& world);

// Shrinks it for so many seconds, writes the result to `file` and prints its story. Returns the
// exit status.
int shrink_and_tell(const WorldPlan& world, const std::string& violation, int seconds,
                    const std::string& file);

}  // namespace hai
