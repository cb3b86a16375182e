#pragma once
// hai-agent doctor: what of this node's setup is wrong, and what to do. Changes nothing.

#include <string>

namespace CLI {
class App;
}

namespace hai {

// The subcommand; it shares -o with --check-health.
CLI::App* add_doctor_command(CLI::App& app);

// Prints what is found; 1 if any of it is a failure, else 0. `path`: the agent's config file.
int examine_node(const std::string& path, bool as_json);

}  // namespace hai
