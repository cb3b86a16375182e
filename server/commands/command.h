#pragma once
// The verbs of hai-server besides serving: one file each. A verb reads the same config file as the
// server, does its work on the database and exits; the server need not stop for any of them.

#include <functional>
#include <utility>
#include <vector>

#include "server/server_config.h"

namespace CLI {
class App;
}

namespace hai {

inline constexpr int kExitOk = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitUsage = 2;

struct ServerCommand {
  CLI::App* app = nullptr;
  std::function<int(const ServerConfig&)> run;
  bool needs_config = true;  // false: the file need not be there
};

ServerCommand add_migrate_command(CLI::App& app);
ServerCommand add_verify_command(CLI::App& app);
ServerCommand add_export_command(CLI::App& app);
ServerCommand add_archive_command(CLI::App& app);
ServerCommand add_ca_command(CLI::App& app);
ServerCommand add_doctor_command(CLI::App& app);
ServerCommand add_setup_command(CLI::App& app);
ServerCommand add_rescue_command(CLI::App& app);

// Of a config that could be read: each key that names something that is not there or no good, and
// why. Changes nothing.
std::vector<std::pair<const char*, Status>> config_problems(const ServerConfig& config);

// --check-config of a config that could be read: whether what it names is there. Changes nothing;
// says each thing that is wrong on stderr, with its key.
int check_config(const ServerConfig& config, const std::string& path);

// Says what went wrong on stderr and gives the exit code for it.
int report_failure(const Status& status);

}  // namespace hai
