#include "server/setup/setup_options.h"

#include <netdb.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <memory>

#include "common/account_name.h"
#include "common/host_port.h"
#include "common/hostlist.h"
#include "common/text_check.h"
#include "common/whole_number.h"
#include "server/setup/cluster_database.h"

namespace hai {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

// With its domain if the machine knows that; else the same.
std::string full_host_name() {
  const std::string name = host_name();
  addrinfo hints{};
  hints.ai_flags = AI_CANONNAME;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return name;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> kept(found, &::freeaddrinfo);
  const std::string full = found->ai_canonname == nullptr ? name : found->ai_canonname;
  return is_loopback(full) ? name : full;
}

std::vector<std::string> default_names() {
  std::vector<std::string> names{full_host_name()};
  if (names.front() != host_name()) names.push_back(host_name());
  return names;
}

// Whoever is asked takes the default with an empty line.
std::string ask(const std::string& question, const std::string& preset) {
  fmt::print("{} [{}]: ", question, preset);
  std::fflush(stdout);
  std::string answer;
  std::getline(std::cin, answer);
  return answer.empty() ? preset : answer;
}

void ask_for_all(SetupOptions& options) {
  if (options.cluster.empty()) options.cluster = ask("Name of the cluster", "hai");
  if (options.names.empty()) {
    const std::string names = CLI::detail::join(default_names(), ",");
    options.names = CLI::detail::split(
        ask("Names and addresses by which others reach this machine, with commas", names), ',');
  }
  if (options.database.empty()) {
    const std::string answer =
        ask("Database: local (made on this machine), or libpq's words for another one", "local");
    if (answer != "local") options.database = answer;
  }
  if (options.admin.empty()) options.admin = ask("Name of the first administrator", "admin");
  if (options.nodes.empty()) {
    const std::string answer = ask("Nodes that may join within a day, as node-[1-8]", "none");
    if (answer != "none") options.nodes = answer;
  }
}

Status check_host(const std::string& name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
  const bool is_name = !name.empty() && name.size() <= 253 && name.front() != '-' &&
                       name.find_first_not_of(kAllowed) == std::string::npos;
  if (is_name || is_address(name)) return ok();
  return invalid_argument("--names: must be DNS names or addresses without ports, '{}' is none",
                          printable(name));
}

Status check_port(const char* option, const std::string& text) {
  const int port = whole_number<int>(text).value_or(0);
  if (port >= 1 && port <= 65'535) return ok();
  return invalid_argument("{}: must be a port, 1..65535, is '{}'", option, printable(text));
}

// No two are the same.
Status check_ports(const SetupOptions& options) {
  const std::pair<const char*, std::string> ports[] = {{"--grpc-port", options.grpc_port},
                                                       {"--http-port", options.http_port},
                                                       {"--services-port", options.services_port},
                                                       {"--health-port", options.health_port}};
  std::map<std::string, const char*> taken;
  for (const auto& [option, port] : ports) {
    if (port.empty()) continue;
    RETURN_IF_ERROR(check_port(option, port));
    const auto [other, is_free] = taken.emplace(port, option);
    if (is_free) continue;
    return invalid_argument("{}: is that of {}: take another one", option, other->second);
  }
  return ok();
}

Status check_listen(const SetupOptions& options) {
  if (options.listen.empty() || is_address(plain_address(options.listen))) return ok();
  return invalid_argument(
      "--listen: must be an address without a port, such as 0.0.0.0 or ::, is '{}'",
      printable(options.listen));
}

// A bundle brings the config with it; what is this machine's own may be said besides.
Status check_bundle(const SetupOptions& options) {
  if (options.bundle.empty()) return ok();
  for (const auto& [name, value] :
       {std::pair("--cluster", &options.cluster), std::pair("--admin", &options.admin),
        std::pair("--authority", &options.authority),
        std::pair("--certificate", &options.certificate)}) {
    if (!value->empty()) {
      return invalid_argument("{}: comes from the bundle: leave one of the two out", name);
    }
  }
  return ok();
}

Status check_names_of_others(const SetupOptions& options) {
  const Result<std::vector<std::string>> nodes = parse_hostlist(options.nodes);
  if (!nodes.is_ok()) return invalid_argument("--nodes: {}", nodes.status().message());
  if (options.add_server.empty()) return ok();
  const size_t at = options.add_server.find('@');
  const std::string host =
      at == std::string::npos ? options.add_server : options.add_server.substr(at + 1);
  if (at != std::string::npos) {
    RETURN_IF_ERROR(check_account_name("--add-server", options.add_server.substr(0, at)));
  }
  const Status status = check_host(host);
  if (status.is_ok()) return ok();
  return invalid_argument("--add-server: must be [USER@]HOST, is '{}'",
                          printable(options.add_server));
}

}  // namespace

void add_setup_options(CLI::App& app, SetupOptions& options) {
  app.add_option("--cluster", options.cluster, "its name, shown to people (default: hai)");
  app.add_option("--names", options.names,
                 "DNS names and addresses by which others reach this server; the first is what "
                 "they are told (default: this host's name)")
      ->delimiter(',');
  auto* database = app.add_option(
      "--database", options.database,
      "libpq's words for a database that is there, e.g. 'host=db1,db2 dbname=hai "
      "user=hai passfile=/etc/hai/pgpass target_session_attrs=read-write "
      "sslmode=require' (default: role and database are made in this machine's PostgreSQL)");
  app.add_option("--database-password", options.database_password,
                 "with --database: file with the password of its user, for the passfile that the "
                 "words name; - takes a line of standard input")
      ->needs(database);
  app.add_option("--postgres-socket", options.postgres_socket,
                 "folder of the socket of this machine's PostgreSQL (default: "
                 "/var/run/postgresql)");
  app.add_option("--user", options.user,
                 "Unix user of the server (default: hai; if not root, you)");
  app.add_option("--admin", options.admin, "name of the first administrator (default: admin)");
  app.add_option("--nodes", options.nodes,
                 "that may join within a day, e.g. 'node-[1-8]': prints the line for them, as `hai "
                 "node token create` does");
  app.add_option("--grpc-port", options.grpc_port, "for agents and hai (default: 7700)");
  app.add_option("--http-port", options.http_port, "for the dashboard and REST (default: 7780)");
  app.add_option("--services-port", options.services_port,
                 "where browsers reach the services of jobs (default: 7781)");
  app.add_option("--health-port", options.health_port,
                 "on this machine alone, for its monitoring: /livez, /readyz, /metrics (default: "
                 "7790)");
  app.add_option(
      "--listen", options.listen,
      "address of these ports but that of health: 0.0.0.0 is all of IPv4, :: all of IPv6 "
      "and IPv4, any other that one alone (default: 0.0.0.0; a further server's: as the "
      "first one's)");
  app.add_option("--authority", options.authority,
                 "folder with ca.crt and ca.key of a CA that you have (default: a new one)");
  auto* certificate = app.add_option("--certificate", options.certificate,
                                     "of this server, in PEM (default: issued by the CA)");
  auto* key = app.add_option("--key", options.key, "of that certificate");
  certificate->needs(key);
  key->needs(certificate);
  auto* bundle = app.add_option("--bundle", options.bundle,
                                "of the cluster's first server: makes this a further one; - reads "
                                "it from standard input");
  auto* export_bundle =
      app.add_option("--export-bundle", options.export_bundle,
                     "writes what a further server needs, secrets too, and does nothing else; - "
                     "writes it to standard output")
          ->excludes(bundle);
  app.add_option("--add-server", options.add_server,
                 "on a server that is set up, with ssh to root@HOST: lets HOST reach the database "
                 "if that is on this machine, installs the packages there, and makes it a further "
                 "server; --names and --listen are HOST's then")
      ->excludes(bundle)
      ->excludes(export_bundle);
  app.add_flag("--yes", options.takes_defaults, "ask nothing: what is not said gets its default");
  app.add_flag("!--no-start", options.starts, "neither enable nor start hai-server.service");
  app.add_flag(
      "!--no-backup", options.backs_up,
      "leave hai-backup.timer off, which the first server of a new cluster has on where it "
      "is started: a dump of the database each day");
}

Status complete_options(SetupOptions& options) {
  const bool is_new = options.bundle.empty();
  if (!options.takes_defaults && is_new) {
    if (::isatty(STDIN_FILENO) != 1) {
      return failed_precondition(
          "setup: standard input is no terminal: say --yes to take the default for what no flag "
          "says");
    }
    ask_for_all(options);
  }
  if (options.names.empty()) options.names = default_names();
  if (options.user.empty() && ::geteuid() == 0) options.user = kSystemUser;
  if (!is_new) return ok();
  if (options.postgres_socket.empty()) options.postgres_socket = "/var/run/postgresql";
  if (options.cluster.empty()) options.cluster = "hai";
  if (options.admin.empty()) options.admin = "admin";
  if (options.grpc_port.empty()) options.grpc_port = "7700";
  if (options.http_port.empty()) options.http_port = "7780";
  if (options.services_port.empty()) options.services_port = "7781";
  if (options.health_port.empty()) options.health_port = "7790";
  return ok();
}

Status check_options(const SetupOptions& options) {
  RETURN_IF_ERROR(check_bundle(options));
  if (!options.cluster.empty()) RETURN_IF_ERROR(check_account_name("--cluster", options.cluster));
  if (!options.admin.empty()) RETURN_IF_ERROR(check_account_name("--admin", options.admin));
  for (const std::string& name : options.names) RETURN_IF_ERROR(check_host(name));
  RETURN_IF_ERROR(check_ports(options));
  RETURN_IF_ERROR(check_listen(options));
  RETURN_IF_ERROR(check_names_of_others(options));
  return options.database.empty() ? ok() : check_conninfo(options.database);
}

}  // namespace hai
