#include "server/server_app.h"

#include <unistd.h>

#include <csignal>

#include "common/asio_loop.h"
#include "common/config/token_file.h"
#include "common/log.h"
#include "common/version.h"
#include "server/api/actions.h"
#include "server/api/event_feed.h"
#include "server/api/log_router.h"
#include "server/api/queries.h"
#include "server/auth/token.h"
#include "server/control/controller.h"
#include "server/http/http_server.h"
#include "server/http/routes.h"
#include "server/rpc/agent_gateway.h"
#include "server/rpc/agent_service.h"
#include "server/rpc/api_service.h"
#include "server/rpc/grpc_server.h"
#include "server/store/history.h"
#include "server/store/migrate.h"
#include "server/store/pg_store.h"

namespace hai {

namespace {

constexpr Duration kStopTimeout = 10s;

struct Secrets {
  std::string agent_token;
  std::string admin_token_hash;
};

Result<Secrets> read_secrets(const ServerConfig& config) {
  Secrets secrets;
  Result<std::string> agent_token = read_token_file(config.agent_token_file);
  if (!agent_token.is_ok()) return agent_token.status();
  secrets.agent_token = std::move(agent_token).value();
  if (config.admin_token_file.empty()) return secrets;
  Result<std::string> admin_token = read_token_file(config.admin_token_file);
  if (!admin_token.is_ok()) return admin_token.status();
  secrets.admin_token_hash = hash_token(admin_token.value());
  return secrets;
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

}  // namespace

struct ServerApp::Impl {
  Impl(const ServerConfig& used_config, Secrets used_secrets)
      : config(used_config),
        secrets(std::move(used_secrets)),
        store(loop, {.conninfo = config.conninfo}),
        history(loop, config.conninfo),
        controller(loop, store, gateway, &feed, config.knobs,
                   Bootstrap{.admin_user = config.admin_user,
                             .admin_token_hash = secrets.admin_token_hash,
                             .public_quota_nodes = config.default_quota_nodes},
                   config.cluster),
        actions(controller),
        queries(controller, &history, feed),
        logs(loop, gateway),
        agent_service(loop, gateway),
        api_service({loop, queries, actions, logs, config.grpc_address}) {
    gateway.set_events(
        {.admit = [this](const AgentHello& hello) { return admit(hello); },
         .connected = [this](ConnectionId id,
                             const std::string& node) { controller.agent_connected(id, node); },
         .report = [this](ConnectionId id,
                          const AgentReport& report) { controller.agent_report(id, report); },
         .disconnected =
             [this](ConnectionId id) {
               controller.agent_disconnected(id);
               logs.disconnected(id);
             },
         .log_chunk = [this](ConnectionId id, int64_t request,
                             const LogChunk& chunk) { logs.answered(id, request, chunk); }});
  }

  Status admit(const AgentHello& hello) const {
    if (!equal_secrets(hello.agent_token, secrets.agent_token)) {
      return unauthenticated("the agent token of {} is not this cluster's", hello.node);
    }
    if (!controller.is_leading()) return unavailable("{}", controller.not_leading_reason());
    return ok();
  }

  Status listen() {
    Result<std::unique_ptr<GrpcServer>> grpc_started =
        GrpcServer::start(config.grpc_address, {&agent_service, &api_service});
    if (!grpc_started.is_ok()) return grpc_started.status();
    grpc = std::move(grpc_started).value();
    http_routes = std::make_unique<HttpRoutes>(
        HttpParts{.loop = loop,
                  .queries = queries,
                  .actions = actions,
                  .logs = logs,
                  .agent_count = [this] { return gateway.connection_count(); },
                  .status_page_user = config.status_page ? config.admin_user : ""});
    Result<std::unique_ptr<HttpServer>> http_started = HttpServer::start(
        config.http_address, {}, [this](const HttpRequest& request, HttpRespond respond) {
          http_routes->handle(request, std::move(respond));
        });
    if (!http_started.is_ok()) {
      stop_calls();
      return http_started.status();
    }
    http = std::move(http_started).value();
    return ok();
  }

  void run() {
    loop.on_signals({SIGINT, SIGTERM}, [this](int signal) { stop(signal); });
    controller.start();
    log_info("server_started", {{"version", version()},
                                {"cluster", config.cluster},
                                {"grpc", config.grpc_address},
                                {"http", config.http_address}});
    loop.run();
    log_info("server_stopped");
  }

  // Leadership goes first, so that a standby takes over while calls still end here.
  void stop(int signal) {
    if (std::exchange(is_stopping, true)) {
      log_warning("server_killed", {{"signal", signal}});
      std::_Exit(1);
    }
    log_info("server_stopping", {{"signal", signal}});
    loop.call_after(kStopTimeout, [] {
      log_error("server_stop_timeout", {{"after", kStopTimeout}});
      std::_Exit(1);
    });
    controller.stop([this] {
      gateway.close_all(unavailable("the server stops"));
      grpc->stop(loop, [this] {
        http.reset();
        // What the ended calls have posted runs before the parts it uses go.
        loop.post([this] { loop.stop(); });
      });
    });
  }

  // Before run(): gRPC's calls still need the loop to end.
  void stop_calls() {
    grpc->stop(loop, [this] { loop.stop(); });
    loop.run();
  }

  const ServerConfig config;
  const Secrets secrets;
  AsioLoop loop;
  PgStore store;
  PgHistory history;
  AgentGateway gateway;
  EventFeed feed;
  Controller controller;
  Actions actions;
  Queries queries;
  LogRouter logs;
  AgentService agent_service;
  ApiService api_service;
  std::unique_ptr<GrpcServer> grpc;
  std::unique_ptr<HttpRoutes> http_routes;
  std::unique_ptr<HttpServer> http;  // first to go: its thread uses all above
  bool is_stopping = false;
};

ServerApp::ServerApp(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ServerApp::~ServerApp() = default;

Result<std::unique_ptr<ServerApp>> ServerApp::make(const ServerConfig& config) {
  Result<Secrets> secrets = read_secrets(config);
  if (!secrets.is_ok()) return secrets.status();
  if (config.migrate_on_start) RETURN_IF_ERROR(migrate_when_reachable(config.conninfo));
  auto impl = std::make_unique<Impl>(config, std::move(secrets).value());
  RETURN_IF_ERROR(impl->listen());
  return std::unique_ptr<ServerApp>(new ServerApp(std::move(impl)));
}

void ServerApp::run() { impl_->run(); }

}  // namespace hai
