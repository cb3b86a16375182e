#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "common/config/token_file.h"
#include "common/log_store/log_store.h"
#include "common/tls/authority_folder.h"
#include "server/auth/seal.h"
#include "server/commands/command.h"
#include "server/directory/unix_account.h"
#include "server/http/web_files.h"
#include "server/server_app.h"
#include "server/setup/cluster_database.h"
#include "server/store/migrate.h"
#include "server/store/migrations.h"

namespace hai {
namespace {

Status check_token(const std::string& path) {
  return path.empty() ? ok() : read_token_file(path).status();
}

Status check_admin_token(const ServerConfig& config) {
  return lacks_admin_token(config) ? ok() : check_token(config.admin_token_file);
}

Status check_keys(const ServerConfig& config) {
  if (config.secrets_key_file.empty()) return ok();
  return read_sealer("secrets", config.secrets_key_file, config.secrets_old_key_files).status();
}

Status check_database(const ServerConfig& config) {
  const Result<int64_t> version = schema_version(config.conninfo);
  RETURN_IF_ERROR(version.status());
  RETURN_IF_ERROR(check_not_newer(version.value()));
  if (version.value() == latest_schema_version() || config.migrate_on_start) return ok();
  return failed_precondition(
      "the database has schema {}, this program needs {}: run hai-server migrate", version.value(),
      latest_schema_version());
}

Status check_web_root(const std::string& folder) {
  if (folder.empty() || folder == "none") return ok();
  return WebFiles::load(folder).status();
}

Status check_authority(const std::string& folder) {
  if (folder.empty()) return ok();
  const Result<KeyAndCertificate> authority = AuthorityFolder(folder).read();
  RETURN_IF_ERROR(authority.status());
  return own_certificate(authority.value()).status();
}

Status check_oidc(const OidcConfig& oidc) {
  RETURN_IF_ERROR(check_token(oidc.client_secret_file));
  return read_tls_files({.ca = oidc.ca}).status();
}

Status check_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return ok();
  return not_found("no folder {}{}", folder.string(), error ? ": " + error.message() : "");
}

// A server that serves would give an empty folder its mark; this only looks.
Status check_log_store(const std::string& path) {
  if (path.empty()) return ok();
  return LogStore::check_folder(path);
}

}  // namespace

std::vector<std::pair<const char*, Status>> config_problems(const ServerConfig& config) {
  std::vector<std::pair<const char*, Status>> checks = {
      {"agent_token_file", check_token(config.agent_token_file)},
      {"bootstrap.admin_token_file", check_admin_token(config)},
      {"secrets", check_keys(config)},
      {"tls", read_tls_files(config.tls).status()},
      {"tls.authority", check_authority(config.authority)},
      {"oidc", check_oidc(config.oidc)},
      {"unix_groups", check_unix_groups(config.unix_groups.named())},
      {"store.conninfo", check_database(config)},
      {"web_root", check_web_root(config.web_root)},
      {"audit.file", check_folder(std::filesystem::path(config.audit.file).parent_path())},
      {"logs.store", check_log_store(config.log_store.path)},
      {"audit.position", check_folder(std::filesystem::path(config.audit.position).parent_path())},
      {"log.file", check_folder(std::filesystem::path(config.log_file).parent_path())},
  };
  std::erase_if(checks, [](const auto& check) { return check.second.is_ok(); });
  return checks;
}

int check_config(const ServerConfig& config, const std::string& path) {
  if (is_readable_by_others(config)) {
    fmt::print(stderr,
               "{}: warning: without tls.certificate, tokens and jobs can be read on the way\n",
               path);
  }
  for (const std::string& warning : warnings_of(config.tls)) {
    fmt::print(stderr, "{}: warning: tls.client_ca: {}\n", path, warning);
  }
  if (lacks_admin_token(config)) {
    fmt::print(stderr,
               "{}: warning: bootstrap.admin_token_file: there is no {}, which only a cluster "
               "without users needs: take the key out\n",
               path, config.admin_token_file);
  }
  if (const auto fault = fault_of_transport(config.conninfo)) {
    fmt::print(stderr, "{}: warning: store.conninfo: {}: {}\n", path, fault->found, fault->remedy);
  }
  int code = kExitOk;
  for (const auto& [key, status] : config_problems(config)) {
    fmt::print(stderr, "{}: {}: {}\n", path, key, status.message());
    code = kExitError;
  }
  if (code == kExitOk) fmt::print("{}: ok\n", path);
  return code;
}

}  // namespace hai
