#include "server/server_app.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "common/asio_loop.h"
#include "common/config/token_file.h"
#include "common/log.h"
#include "common/open_files.h"
#include "common/reload_log.h"
#include "common/service_manager.h"
#include "common/version.h"
#include "server/auth/token.h"
#include "server/rpc/grpc_server.h"
#include "server/serving.h"
#include "server/setup/setup_files.h"
#include "server/store/audit_log.h"
#include "server/store/history.h"
#include "server/store/migrate.h"
#include "server/store/pg_store.h"

namespace hai {

namespace {

constexpr Duration kStopTimeout = 10s;
constexpr int kListenTriesMax = 50;  // 100 ms apart

Result<ServingSecrets> read_secrets(const ServerConfig& config) {
  ServingSecrets secrets;
  if (!config.agent_token_file.empty()) {
    Result<std::string> agent_token = read_token_file(config.agent_token_file);
    if (!agent_token.is_ok()) return agent_token.status();
    secrets.agent_token = std::move(agent_token).value();
  }
  if (!config.secrets_key_file.empty()) {
    Result<Sealer> sealer =
        read_sealer("secrets", config.secrets_key_file, config.secrets_old_key_files);
    if (!sealer.is_ok()) return invalid_argument("secrets: {}", sealer.status().message());
    secrets.sealer.emplace(std::move(sealer).value());
  }
  if (!config.oidc.client_secret_file.empty()) {
    Result<std::string> secret = read_token_file(config.oidc.client_secret_file);
    if (!secret.is_ok()) return invalid_argument("oidc: {}", secret.status().message());
    secrets.oidc_client_secret = std::move(secret).value();
  }
  if (config.admin_token_file.empty() || lacks_admin_token(config)) return secrets;
  Result<std::string> admin_token = read_token_file(config.admin_token_file);
  if (!admin_token.is_ok()) return admin_token.status();
  secrets.admin_token_hash = hash_token(admin_token.value());
  return secrets;
}

// With the user and without the token a cluster of nobody would stay one that nobody gets into: the
// user is made once.
ServerConfig without_lost_admin(ServerConfig config) {
  if (!lacks_admin_token(config)) return config;
  log_info("admin_token_file_missing", {{"file", config.admin_token_file}});
  config.admin_user.clear();
  return config;
}

// What opens secrets is in memory, and a core would be a file with it.
void write_no_core() {
  const rlimit none{};
  if (::setrlimit(RLIMIT_CORE, &none) != 0) log_warning("core_dumps_allowed");
}

// A database that is not up yet is waited for: both may start with the machine.
Status migrate_when_reachable(const std::string& conninfo) {
  for (;;) {
    Result<MigrateResult> result = migrate(conninfo);
    if (result.is_ok()) {
      if (result.value().from != result.value().to) {
        log_info("database_migrated", {{"from", result.value().from}, {"to", result.value().to}});
      }
      return ok();
    }
    if (result.status().code() != Code::unavailable) return result.status();
    log_warning("database_unreachable", {{"reason", result.status()}});
    ::sleep(1);
  }
}

// The last server on this machine may take a moment to let go of its ports.
Status listen_when_free(Serving& serving) {
  for (int tries = 0;; ++tries) {
    const Status status = serving.listen();
    if (status.code() != Code::unavailable || tries == kListenTriesMax) return status;
    ::usleep(100'000);
  }
}

}  // namespace

bool lacks_admin_token(const ServerConfig& config) {
  return !config.admin_token_file.empty() &&
         read_token_file(config.admin_token_file).status().code() == Code::not_found;
}

struct ServerApp::Impl {
  Impl(const ServerConfig& used_config, std::string used_path, std::string cluster_id,
       ServingSecrets secrets)
      : config(without_lost_admin(used_config)),
        path(std::move(used_path)),
        keys(config.keys),
        store(loop, {.conninfo = config.conninfo,
                     .cluster_id = std::move(cluster_id),
                     .advertise = config.advertise}),
        history(loop, config.conninfo),
        audit(loop, config.conninfo, config.audit),
        serving(
            loop, store, &history, &history, config, std::move(secrets), &audit,
            [this] { return audit.not_exported(); }, &history, &history) {}

  void run() {
    loop.on_signals({SIGINT, SIGTERM}, [this](int signal) { stop(signal); });
    loop.on_signals({SIGHUP}, [this](int) { reload(); });
    serving.start();
    log_info("server_started", {{"version", version()},
                                {"cluster", config.cluster},
                                {"grpc", config.grpc_address},
                                {"http", config.http_address},
                                {"open_files_max", allow_many_open_files()}});
    service_manager.ready();
    loop.run();
    log_info("server_stopped");
  }

  void reload() {
    service_manager.reload([this] {
      const Result<ServerConfig> now = read_server_config(path);
      if (now.is_ok()) take(now.value());
      if (!now.is_ok()) log_error("config_not_reloaded", {{"reason", now.status()}});
      if (Status status = reopen_log_file(); !status.is_ok()) {
        log_warning("log_file_not_reopened", {{"reason", status}});
      }
    });
  }

  void take(const ServerConfig& now) {
    const ConfigChange change = compare_configs(keys, now.keys, kReloadedServerKeys);
    keys = keys_after(std::move(keys), now.keys, change);
    serving.reload(now);
    reload_log(now.log_level, now.log_file, change);
  }

  void stop(int signal) {
    if (std::exchange(is_stopping, true)) {
      log_warning("server_killed", {{"signal", signal}});
      std::_Exit(1);
    }
    log_info("server_stopping", {{"signal", signal}});
    service_manager.stopping();
    loop.call_after(kStopTimeout, [] {
      log_error("server_stop_timeout", {{"after", kStopTimeout}});
      std::_Exit(1);
    });
    serving.stop([this] { loop.stop(); });
  }

  const ServerConfig config;
  const std::string path;
  ConfigKeys keys;  // what of the file is in force
  AsioLoop loop;
  PgStore store;
  PgHistory history;
  PgAuditLog audit;
  Serving serving;
  ServiceManager service_manager{loop};
  bool is_stopping = false;
};

ServerApp::ServerApp(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ServerApp::~ServerApp() = default;

Result<std::unique_ptr<ServerApp>> ServerApp::make(const ServerConfig& config, std::string path) {
  Result<ServingSecrets> secrets = read_secrets(config);
  if (!secrets.is_ok()) return secrets.status();
  if (secrets.value().sealer) write_no_core();
  if (!config.tls.certificate.empty()) GrpcServer::refuse_tls_before_13();
  if (config.migrate_on_start) RETURN_IF_ERROR(migrate_when_reachable(config.conninfo));
  Result<std::string> cluster_id = cluster_beside(path);
  if (!cluster_id.is_ok()) return cluster_id.status();
  auto impl = std::make_unique<Impl>(config, std::move(path), std::move(cluster_id).value(),
                                     std::move(secrets).value());
  RETURN_IF_ERROR(impl->serving.prepare());
  RETURN_IF_ERROR(listen_when_free(impl->serving));
  return std::unique_ptr<ServerApp>(new ServerApp(std::move(impl)));
}

void ServerApp::run() { impl_->run(); }

}  // namespace hai
