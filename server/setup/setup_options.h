#pragma once
// What `hai-server setup` is told, by flags or by a person at a terminal.

#include <string>
#include <vector>

#include "common/status.h"

namespace CLI {
class App;
}

namespace hai {

// Whom the server runs as where root sets it up: the package makes this user.
inline constexpr const char* kSystemUser = "hai";

// "" and {} = not told.
struct SetupOptions {
  std::string config;  // path of server.yaml; its folder holds keys and certificates, too
  std::string cluster;
  std::vector<std::string> names;  // DNS names and addresses of this server, the first for others
  std::string database;            // conninfo; "" = one on this machine
  std::string postgres_socket;     // folder of the PostgreSQL on this machine
  std::string user;                // Unix user of the server
  std::string admin;
  std::string grpc_port;
  std::string http_port;
  std::string services_port;
  std::string health_port;
  std::string listen;     // address for all ports but that of health
  std::string authority;  // folder of the site's own CA
  std::string certificate;
  std::string key;
  std::string bundle;             // file to read, - = standard input
  std::string export_bundle;      // file to write, - = standard output
  std::string add_server;         // [USER@]HOST, by ssh: is made a further server
  std::string database_password;  // "-" = a line of standard input; else a file
  std::string nodes;              // that may join within a day: a list of names
  bool takes_defaults = false;
  bool starts = true;
  bool backs_up = true;  // the first server of a new cluster, where it is started
};

void add_setup_options(CLI::App& app, SetupOptions& options);

// What is not told gets its default. Asks for the main things if standard input is a terminal and
// --yes was not given; without a terminal and without --yes it is a `failed_precondition`.
Status complete_options(SetupOptions& options);

// Each value by itself: names, addresses, ports, what goes with what.
Status check_options(const SetupOptions& options);

}  // namespace hai
