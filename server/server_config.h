#pragma once
// What hai-server is told: its config file, read whole, with every error at once.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/config/config_change.h"
#include "common/knobs.h"
#include "common/log.h"
#include "common/status.h"
#include "common/tls/tls_files.h"
#include "server/api/stored_logs.h"
#include "server/api/visibility.h"
#include "server/auth/oidc_config.h"
#include "server/control/standing.h"
#include "server/directory/unix_groups.h"
#include "server/store/audit_export.h"

namespace hai {

struct ServerConfig {
  std::string cluster = "hai";
  std::string grpc_address = "0.0.0.0:7700";
  std::string http_address = "0.0.0.0:7780";
  std::string health_address;  // of a port for /readyz and the like alone; "" = none
  // Of a port for the services of jobs, an origin of its own for browsers; "" = none.
  std::string services_address;
  ServerAddresses advertise;  // where others reach this server; "" = they are not told
  // The dashboard's folder; "" = the one beside the program if it is there, "none" = no dashboard.
  std::string web_root;
  // Without a dashboard, "/" shows totals and nodes to anybody who reaches the port.
  bool status_page = false;
  std::string conninfo;
  bool migrate_on_start = false;
  std::string admin_user;
  std::string admin_token_file;
  Duration admin_token_ttl = 24h * 90;
  std::string agent_token_file;  // "" = agents prove by their certificates alone
  TlsFiles tls;  // of both ports; `ca` is tls.client_ca: agents must show certificates of it
  bool plain_text = false;       // served without tls to other machines, where somebody said so
  std::string secrets_key_file;  // "" = nobody can set secrets
  std::vector<std::string> secrets_old_key_files;  // what they sealed still opens
  Visibility visibility = kVisibilityDefault;
  std::string authority;  // folder of the CA that issues nodes' certificates; "" = none
  Duration node_certificate_life = 30 * Duration(24h);
  OidcConfig oidc;                             // where people may sign in beside tokens
  std::optional<int64_t> default_quota_nodes;  // of "public", for every level; none = leave alone
  Duration token_ttl = 24h * 90;               // of tokens that are made without a ttl
  Duration token_ttl_max = 24h * 365;
  int streams_per_user = 256;
  Duration history_keep = 400 * Duration(24h);  // of what happened hour by hour
  std::optional<std::string> munge_socket;  // of munged, which proves who people are; "" = its own
  bool munge_creates_users = false;
  std::vector<std::string> image_registries;  // whose images jobs may have; none = all
  UnixGroupsConfig unix_groups;
  Knobs knobs;
  std::string archive_older_than;        // of `hai-server archive`; "" = it must be told
  std::string archive_audit_older_than;  // "" = the audit log stays whole
  std::string archive_dir;
  AuditExportOptions audit;
  StoredLogsOptions log_store;  // no path = logs are on their nodes only
  LogLevel log_level = LogLevel::info;
  std::string log_file;  // "" = stderr
  ConfigKeys keys;       // as the file has them
};

// What SIGHUP takes anew from the file; all others wait for a restart. docs/operations/units.md has
// the same table.
inline constexpr std::string_view kReloadedServerKeys[] = {
    "archive.",  // of `hai-server archive`, which reads the file itself
    "history_keep",      "image_registries",  "log.file",      "log.level",
    "logs.keep",         "logs.sweep_every",  "logs.user_max", "munge_create_users",
    "oidc.admin_groups", "oidc.create_users", "oidc.name",     "oidc.operator_groups",
    "oidc.redirect_url", "streams_per_user",  "tokens.ttl",    "tokens.ttl_max",
    "visibility",
};

// invalid_argument with one line per error, each with its line number.
Result<ServerConfig> parse_server_config(std::string_view text, const std::string& source);
Result<ServerConfig> read_server_config(const std::string& path);

// Where browsers reach the services of jobs: "https://HOST:PORT"; "" = nowhere.
std::string services_url(const ServerConfig& config);

// Whether what is said on either port can be read by others on the way: no TLS, and not only this
// machine reaches it. A config is refused for it unless it says plain_text.
bool is_readable_by_others(const ServerConfig& config);

}  // namespace hai
