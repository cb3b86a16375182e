#include "server/server_config.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "common/config/knobs_config.h"
#include "common/config/token_file.h"
#include "common/config/yaml_reader.h"
#include "common/host_port.h"
#include "common/tls/authority.h"
#include "common/whole_number.h"
#include "server/auth/fetch.h"
#include "server/model/user.h"

namespace hai {

namespace {

void read_address(YamlReader& reader, const std::string& path, std::string* out) {
  if (!reader.string(path, out)) return;
  const size_t colon = out->rfind(':');
  int port = -1;
  if (colon != std::string::npos && colon > 0) {
    port = whole_number<int>(std::string_view(*out).substr(colon + 1)).value_or(-1);
  }
  if (port < 0 || port > 65'535) {
    reader.fail(path, fmt::format("must be host:port, for example 0.0.0.0:7700, is {}", *out));
  }
}

// Of an address to listen on: whom others have to ask for. A wildcard is reached by this machine's
// name, a port that is still to be chosen cannot be told.
std::string reachable(const std::string& listen) {
  const size_t colon = listen.rfind(':');
  const std::string host = listen.substr(0, colon);
  const std::string port = listen.substr(colon + 1);
  if (port == "0") return "";
  if (!is_wildcard(host)) return listen;
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return std::string(name.data()) + ":" + port;
}

void read_quota(YamlReader& reader, std::optional<int64_t>* out) {
  const std::string path = "default_quota_nodes";
  const YamlNode* node = reader.find(path);
  if (node == nullptr) return;
  if (node->kind == YamlNode::Kind::scalar && node->text == "unlimited") {
    *out = Quota::kUnlimited;
    return;
  }
  int64_t nodes = 0;
  if (reader.integer(path, &nodes, {.low = 0, .high = Quota::kUnlimited})) *out = nodes;
}

void read_archive(YamlReader& reader, ServerConfig* config) {
  reader.string("archive.dir", &config->archive_dir);
  for (const auto& [path, age] :
       {std::pair("archive.older_than", &config->archive_older_than),
        std::pair("archive.audit_older_than", &config->archive_audit_older_than)}) {
    if (!reader.string(path, age)) continue;
    const Status status = parse_duration(*age).status();
    if (!status.is_ok()) reader.fail(path, status.message());
  }
}

void read_audit(YamlReader& reader, AuditExportOptions* audit) {
  reader.file("audit.file", &audit->file);
  reader.boolean("audit.syslog", &audit->syslog);
  reader.file("audit.position", &audit->position);
  if (!audit->position.empty() && audit->file.empty() && !audit->syslog) {
    reader.fail("audit.position", "needs audit.file or audit.syslog: how far they have come");
  } else if (!audit->position.empty() && audit->position == audit->file) {
    reader.fail("audit.position", "is the same file as audit.file");
  }
}

void read_log_store(YamlReader& reader, ServerConfig* config) {
  StoredLogsOptions& logs = config->log_store;
  logs.cluster = config->cluster;
  if (reader.file("logs.store", &logs.path) && !logs.path.starts_with('/')) {
    reader.fail("logs.store", fmt::format("must be an absolute path, is {}", logs.path));
  }
  reader.duration("logs.keep", &logs.rules.keep, {.low = 1min});
  reader.bytes("logs.user_max", &logs.rules.user_bytes, {.low = 1 << 10, .high = int64_t{1} << 60});
  reader.duration("logs.sweep_every", &logs.sweep_every, {.low = 1s, .high = 24h});
  if (logs.path.empty() && reader.has("logs")) {
    reader.fail("logs", "needs store: the folder that all nodes share");
  }
}

void read_log(YamlReader& reader, ServerConfig* config) {
  reader.string("log.file", &config->log_file);
  std::string level;
  if (!reader.string("log.level", &level)) return;
  Result<LogLevel> parsed = parse_log_level(level);
  if (!parsed.is_ok()) return reader.fail("log.level", parsed.status().message());
  config->log_level = parsed.value();
}

void read_tls(YamlReader& reader, TlsFiles* tls) {
  reader.file("tls.certificate", &tls->certificate);
  reader.file("tls.key", &tls->key);
  reader.file("tls.client_ca", &tls->ca);
  if (tls->certificate.empty() != tls->key.empty()) {
    reader.fail("tls", "certificate and key belong together: one of them is missing");
  } else if (tls->certificate.empty() && !tls->ca.empty()) {
    reader.fail("tls.client_ca", "needs tls.certificate and tls.key: agents show theirs over TLS");
  } else if (tls->certificate.empty() && reader.has("tls")) {
    reader.fail("tls", "needs certificate and key; without the section there is no TLS");
  }
}

// How people prove who they are, and how long it lasts.
void read_people(YamlReader& reader, ServerConfig* config) {
  constexpr YamlReader::DurationRange kTokenRange{.low = 1min, .high = 24h * 3653};
  reader.duration("tokens.ttl", &config->token_ttl, kTokenRange);
  reader.duration("tokens.ttl_max", &config->token_ttl_max, kTokenRange);
  if (config->token_ttl > config->token_ttl_max) {
    reader.fail("tokens.ttl", fmt::format("is {}, longer than tokens.ttl_max: {}",
                                          format_duration(config->token_ttl),
                                          format_duration(config->token_ttl_max)));
  }
  reader.duration("history_keep", &config->history_keep, {.low = 24h, .high = 24h * 3653});
  reader.integer("streams_per_user", &config->streams_per_user, {.low = 1, .high = 100'000});
  std::string munge;
  if (reader.string("munge", &munge) && munge != "false") {
    if (munge != "true" && !munge.starts_with('/')) {
      reader.fail("munge", "must be true, false or the path of munged's socket, is " + munge);
    }
    config->munge_socket = munge == "true" ? "" : munge;
  }
  reader.strings("image_registries", &config->image_registries);
  reader.boolean("munge_create_users", &config->munge_creates_users);
  if (config->munge_creates_users && !config->munge_socket) {
    reader.fail("munge_create_users", "needs munge: true");
  }
}

void read_secrets(YamlReader& reader, ServerConfig* config) {
  reader.file("secrets.key_file", &config->secrets_key_file);
  reader.strings("secrets.old_key_files", &config->secrets_old_key_files);
  if (config->secrets_key_file.empty() && !config->secrets_old_key_files.empty()) {
    reader.fail("secrets.old_key_files", "needs secrets.key_file: with which new ones are sealed");
  }
}

void read_visibility(YamlReader& reader, Visibility* out) {
  size_t index = 0;
  if (!reader.choice("visibility", &index, {"open", "all", "team", "own"})) return;
  *out = static_cast<Visibility>(index);  // in the order of its words
}

void read_authority(YamlReader& reader, ServerConfig* config) {
  reader.file("tls.authority", &config->authority);
  if (!config->authority.empty() && config->tls.ca.empty()) {
    reader.fail("tls.authority", "needs tls.client_ca: whose certificates nodes must show");
  }
  reader.duration("tls.node_certificate_life", &config->node_certificate_life,
                  {.low = Duration(5s), .high = kAuthorityDays * Duration(24h)});
}

void read_secure_url(YamlReader& reader, const std::string& path, std::string* out) {
  if (!reader.string(path, out)) return;
  const Status status = check_secure_url(*out);
  if (!status.is_ok()) {
    reader.fail(path, status.message());
  } else if (out->find('?') != std::string::npos) {
    reader.fail(path, "has no ? in it, is " + *out);
  }
}

void read_oidc(YamlReader& reader, OidcConfig* oidc) {
  constexpr size_t kNameMax = 64;
  if (!reader.has("oidc")) return;
  reader.require("oidc.issuer");
  read_secure_url(reader, "oidc.issuer", &oidc->issuer);
  reader.require("oidc.client_id");
  reader.string("oidc.client_id", &oidc->client_id);
  reader.file("oidc.client_secret_file", &oidc->client_secret_file);
  reader.strings("oidc.scopes", &oidc->scopes);
  if (std::ranges::find(oidc->scopes, "openid") == oidc->scopes.end()) {
    reader.fail("oidc.scopes", "openid must be among them: without it there is no ID token");
  }
  reader.string("oidc.user_claim", &oidc->user_claim);
  reader.string("oidc.groups_claim", &oidc->groups_claim);
  reader.strings("oidc.admin_groups", &oidc->admin_groups);
  reader.strings("oidc.operator_groups", &oidc->operator_groups);
  reader.boolean("oidc.create_users", &oidc->create_users);
  reader.string("oidc.name", &oidc->name);
  if (oidc->name.size() > kNameMax) {
    reader.fail("oidc.name",
                fmt::format("has {} bytes, allowed are {}", oidc->name.size(), kNameMax));
  }
  reader.file("oidc.ca", &oidc->ca);
  read_secure_url(reader, "oidc.redirect_url", &oidc->redirect_url);
}

// Groups have one source: who says them there and here would be in other ones now and then.
void read_unix_groups(YamlReader& reader, ServerConfig* config) {
  UnixGroupsConfig& unix_groups = config->unix_groups;
  if (!reader.has("unix_groups")) return;
  reader.strings("unix_groups.groups", &unix_groups.groups);
  reader.strings("unix_groups.admin_groups", &unix_groups.roles.admin);
  reader.strings("unix_groups.operator_groups", &unix_groups.roles.operators);
  reader.duration("unix_groups.every", &unix_groups.every, {.low = 1s, .high = 24h});
  if (!unix_groups.is_used()) {
    reader.fail("unix_groups", "needs groups, admin_groups or operator_groups: what to take");
  }
  for (const char* key : {"groups_claim", "admin_groups", "operator_groups"}) {
    if (reader.has(std::string("oidc.") + key)) {
      reader.fail(std::string("oidc.") + key,
                  "goes out: with unix_groups it is the Unix accounts that say groups and roles");
    }
  }
  config->oidc.groups_claim = "";
}

Result<ServerConfig> read(YamlReader reader, const std::string& source) {
  ServerConfig config;
  config.keys = reader.keys();
  reader.string("cluster", &config.cluster);
  read_address(reader, "listen.grpc", &config.grpc_address);
  read_address(reader, "listen.http", &config.http_address);
  read_address(reader, "listen.health", &config.health_address);
  read_address(reader, "listen.services", &config.services_address);
  config.advertise = {.grpc = reachable(config.grpc_address),
                      .http = reachable(config.http_address)};
  read_address(reader, "advertise.grpc", &config.advertise.grpc);
  read_address(reader, "advertise.http", &config.advertise.http);
  reader.string("web_root", &config.web_root);
  reader.boolean("status_page", &config.status_page);
  reader.require("store.conninfo");
  reader.string("store.conninfo", &config.conninfo);
  reader.boolean("migrate_on_start", &config.migrate_on_start);
  reader.string("bootstrap.admin_user", &config.admin_user);
  reader.string("bootstrap.admin_token_file", &config.admin_token_file);
  if (!config.admin_token_file.empty() && config.admin_user.empty()) {
    reader.fail("bootstrap.admin_token_file", "needs bootstrap.admin_user: whose token it is");
  }
  reader.duration("bootstrap.admin_token_ttl", &config.admin_token_ttl,
                  {.low = 1min, .high = 24h * 366});
  read_tls(reader, &config.tls);
  reader.boolean("plain_text", &config.plain_text);
  if (is_readable_by_others(config) && !config.plain_text && !reader.has("tls")) {
    reader.fail(
        "tls",
        "is missing, and other machines reach these ports: who listens on the way would have "
        "every token. `hai-server setup` makes certificates (docs/operations/tls.md); "
        "`plain_text: true` serves without");
  }
  read_authority(reader, &config);
  if (config.tls.ca.empty()) reader.require("agent_token_file");
  reader.file("agent_token_file", &config.agent_token_file);
  read_secrets(reader, &config);
  read_visibility(reader, &config.visibility);
  read_oidc(reader, &config.oidc);
  read_unix_groups(reader, &config);
  read_quota(reader, &config.default_quota_nodes);
  read_knobs(reader, &config.knobs);
  read_people(reader, &config);
  read_archive(reader, &config);
  read_audit(reader, &config.audit);
  read_log_store(reader, &config);
  read_log(reader, &config);
  RETURN_IF_ERROR(to_status(reader.finish(), source));
  return config;
}

}  // namespace

std::string services_url(const ServerConfig& config) {
  if (config.services_address.empty()) return "";
  return fmt::format("{}://{}", config.tls.certificate.empty() ? "http" : "https",
                     with_port(split_host_port(config.advertise.http).host,
                               split_host_port(config.services_address).port));
}

bool is_readable_by_others(const ServerConfig& config) {
  return config.tls.certificate.empty() &&
         !(is_loopback(split_host_port(config.grpc_address).host) &&
           is_loopback(split_host_port(config.http_address).host) &&
           (config.services_address.empty() ||
            is_loopback(split_host_port(config.services_address).host)));
}

Result<ServerConfig> parse_server_config(std::string_view text, const std::string& source) {
  return read(YamlReader(text), source);
}

Result<ServerConfig> read_server_config(const std::string& path) {
  Result<YamlReader> reader = YamlReader::from_file(path);
  if (!reader.is_ok()) return reader.status();
  return read(std::move(reader).value(), path);
}

}  // namespace hai
