#include "server/serving.h"

#include <algorithm>

#include "common/log.h"
#include "common/open_files.h"
#include "server/api/actions.h"
#include "server/api/advisor.h"
#include "server/api/caller_board.h"
#include "server/api/event_feed.h"
#include "server/api/log_router.h"
#include "server/api/observatory.h"
#include "server/api/operations.h"
#include "server/api/queries.h"
#include "server/api/request_meter.h"
#include "server/api/standing_board.h"
#include "server/auth/token.h"
#include "server/http/event_hub.h"
#include "server/http/event_stream.h"
#include "server/http/http_server.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"
#include "server/http/web_files.h"
#include "server/rpc/agent_gateway.h"
#include "server/rpc/agent_service.h"
#include "server/rpc/api_service.h"
#include "server/rpc/grpc_server.h"

namespace hai {

namespace {

// How many connections each port may have, so that both together leave enough of the files that the
// process may open for the database, logs and whatever it reads.
struct ConnectionShares {
  size_t http = 0;
  size_t grpc = 0;
};

ConnectionShares connection_shares(long open_files) {
  const auto most = static_cast<size_t>(std::max(open_files, 64L));
  const size_t left = most - std::min<size_t>(most / 4, 1'000);
  return {.http = std::min<size_t>(left / 3, 12'000),
          .grpc = std::min<size_t>(left * 2 / 3, 100'000)};
}

}  // namespace

struct Serving::Impl {
  Impl(Loop& used_loop, Store& store, History* history, SampleStore* samples,
       const ServerConfig& used_config, ServingSecrets used_secrets)
      : loop(used_loop),
        config(used_config),
        secrets(std::move(used_secrets)),
        controller(loop, store, gateway, &feed, config.knobs,
                   Bootstrap{.admin_user = config.admin_user,
                             .admin_token_hash = secrets.admin_token_hash,
                             .public_quota_nodes = config.default_quota_nodes},
                   config.cluster),
        actions(controller),
        queries(controller, history, feed),
        advisor(loop, controller, queries, feed, history),
        observatory(loop, controller, samples),
        logs(loop, gateway),
        agent_service(loop, gateway, !config.tls.ca.empty(), known.get()),
        operations({loop, queries, actions, advisor, observatory, config.grpc_address}),
        api_service({loop, board, callers, operations, queries, logs, admission, calls, *known}),
        routes({.loop = loop,
                .standing = board,
                .callers = callers,
                .controller = controller,
                .observatory = observatory,
                .events = events,
                .requests = requests,
                .calls = calls,
                .admission = admission,
                .operations = operations,
                .queries = queries,
                .advisor = advisor,
                .logs = logs,
                .agent_count = [this] { return gateway.connection_count(); },
                .scheme = config.tls.certificate.empty() ? "http" : "https",
                .web = web,
                .status_page_user = config.status_page ? config.admin_user : ""}) {
    feed.add_observer([this](const std::vector<Event>& durable, const ClusterState& state) {
      callers.follow(durable, state);
    });
    feed.add_observer([this](const std::vector<Event>& durable, const ClusterState& state) {
      observatory.events().count(durable, state);
    });
    feed.add_observer([this](const std::vector<Event>& durable, const ClusterState& state) {
      if (!events.is_wanted()) return;
      std::vector<EventHub::Frame> frames;
      for (const Event& event : durable)
        frames.push_back({event, event_frame(view_event(state, event))});
      events.push(std::move(frames));
    });
    feed.set_standing_callback([this] { standing_changed(); });
    gateway.set_events(
        {.prove = [this](const AgentHello& hello) { return check_secret(hello.agent_token); },
         .admit =
             [this](const AgentHello& hello) {
               return controller.admit_agent(hello.node, hello.identity);
             },
         .is_undecided = [this] { return controller.mode() == ServerMode::loading; },
         .connected =
             [this](ConnectionId id, const AgentHello& hello) {
               controller.agent_connected(id, hello.node, hello.identity);
             },
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

  void standing_changed() {
    const Standing now = controller.standing();
    const Standing before = board.get();
    board.set(now);
    observatory.standing_changed();
    if (!now.is_leading() && !now.stale_since) {
      callers.forget();
      events.cut_all("this server does not lead any more");
    }
    if (now.mode != ServerMode::loading) loop.post([this] { gateway.decide_waiting(); });
    // The reason alone changes with each look at another's lease.
    if (now.mode == before.mode && now.leader == before.leader &&
        now.store_is_away == before.store_is_away) {
      return;
    }
    log_info("standing_changed", {{"mode", to_string(now.mode)},
                                  {"epoch", controller.state().epoch()},
                                  {"leader", now.leader.grpc},
                                  {"store_is_away", now.store_is_away},
                                  {"reason", now.reason}});
  }

  // Without a secret their certificates prove enough.
  Status check_secret(std::string_view shown) const {
    const bool has_secret = !secrets.agent_token.empty();
    if (!has_secret && config.tls.ca.empty()) {
      return unauthenticated(
          "agents cannot prove who they are: this server has neither a token of theirs nor a CA of "
          "their certificates");
    }
    if (!has_secret || equal_secrets(shown, secrets.agent_token)) return ok();
    return unauthenticated("the agent token is not this cluster's");
  }

  // Agents of a version that shows its token with the hello only are judged by that.
  Status judge_agent(const CallHead& head) {
    Status proof = ok();
    if (!config.tls.ca.empty() && head.nodes.empty()) {
      proof = permission_denied(
          "an agent shows no certificate of a node: give it one (hai-server ca issue --node NAME)");
    } else if (!head.authorization.empty()) {
      proof = check_secret(bearer_token(head.authorization));
    }
    if (!proof.is_ok()) gateway.note_stranger("", proof);
    return proof;
  }

  // On gRPC's threads.
  Status judge(const CallHead& head) {
    if (head.method.starts_with("/hai.v1.AgentService/")) return judge_agent(head);
    const Status admitted = callers.admit(caller_of(head.authorization));
    if (!admitted.is_ok()) calls.note("", "refused", std::string(to_string(admitted.code())), 0);
    return admitted;
  }

  Status load_web() {
    if (config.web_root == "none") return ok();
    const std::string folder = config.web_root.empty() ? find_web_folder() : config.web_root;
    if (folder.empty()) {
      log_warning("dashboard_missing", {{"web_root", "../share/hai/web of the program"}});
      return ok();
    }
    Result<WebFiles> loaded = WebFiles::load(folder);
    if (!loaded.is_ok()) return invalid_argument("web_root: {}", loaded.status().message());
    web = std::move(loaded).value();
    return ok();
  }

  Status check_tls() const {
    if (is_readable_by_others(config)) {
      log_warning("not_encrypted", {{"reason",
                                     "no tls.certificate in the config: tokens and jobs "
                                     "can be read on the way"},
                                    {"grpc", config.grpc_address},
                                    {"http", config.http_address}});
    }
    const Status files = read_tls_files(config.tls).status();
    return files.is_ok() ? files : invalid_argument("tls: {}", files.message());
  }

  Status prepare() {
    RETURN_IF_ERROR(load_web());
    return check_tls();
  }

  HttpLimits http_limits() {
    return {.knows = [this](const HttpRequest& head) { return callers.knows(caller_of(head)); },
            .turn_away = [this](const HttpRequest& head) { return routes.turn_away(head); }};
  }

  // HTTP first: it needs no loop to go away again if gRPC's address is taken.
  Status listen() {
    const ConnectionShares shares = connection_shares(allow_many_open_files());
    HttpLimits limits = http_limits();
    limits.connections = shares.http;
    Result<std::unique_ptr<HttpServer>> http_started = HttpServer::start(
        config.http_address, std::move(limits),
        [this](const HttpRequest& request, HttpRespond respond) {
          routes.handle(request, std::move(respond));
        },
        config.tls);
    if (!http_started.is_ok()) return http_started.status();
    Result<std::unique_ptr<GrpcServer>> grpc_started =
        GrpcServer::start(config.grpc_address, {&agent_service, &api_service},
                          {.limits = {.connections = {.all = shares.grpc - shares.grpc / 8,
                                                      .per_address = shares.grpc / 4},
                                      .at_once = shares.grpc / 2,
                                      .silent = shares.grpc / 8},
                           .known = known,
                           .guard = [this](const CallHead& head) { return judge(head); }},
                          config.tls);
    if (!grpc_started.is_ok()) return grpc_started.status();
    http = std::move(http_started).value();
    grpc = std::move(grpc_started).value();
    return ok();
  }

  // Leadership goes first, so that a standby takes over while calls still end here.
  void stop(std::function<void()> stopped) {
    controller.stop([this, stopped = std::move(stopped)] {
      gateway.close_all(unavailable("the server stops"));
      grpc->stop(loop, [this, stopped] {
        http.reset();
        // What the ended calls have posted runs before the parts it uses go.
        loop.post(stopped);
      });
    });
  }

  Loop& loop;
  const ServerConfig config;
  const ServingSecrets secrets;
  Admission admission;
  RequestMeter calls;                                                        // of gRPC
  const std::shared_ptr<KnownPeers> known = std::make_shared<KnownPeers>();  // of gRPC
  AgentGateway gateway;
  EventFeed feed;
  StandingBoard board;
  CallerBoard callers;
  Controller controller;
  Actions actions;
  Queries queries;
  Advisor advisor;
  Observatory observatory;
  LogRouter logs;
  AgentService agent_service;
  Operations operations;
  ApiService api_service;
  EventHub events;
  RequestMeter requests;
  WebFiles web;
  HttpRoutes routes;
  std::unique_ptr<GrpcServer> grpc;
  std::unique_ptr<HttpServer> http;  // first to go: its thread uses all above
};

Serving::Serving(Loop& loop, Store& store, History* history, SampleStore* samples,
                 const ServerConfig& config, ServingSecrets secrets)
    : impl_(std::make_unique<Impl>(loop, store, history, samples, config, std::move(secrets))) {}
Serving::~Serving() = default;

Status Serving::prepare() { return impl_->prepare(); }
Status Serving::listen() { return impl_->listen(); }
void Serving::start() { impl_->controller.start(); }
void Serving::stop(std::function<void()> stopped) { impl_->stop(std::move(stopped)); }
int Serving::grpc_port() const { return impl_->grpc->port(); }
int Serving::http_port() const { return impl_->http->port(); }
Controller& Serving::controller() { return impl_->controller; }
Operations& Serving::operations() { return impl_->operations; }
const HttpRoutes& Serving::routes() { return impl_->routes; }
HttpLimits Serving::http_limits() { return impl_->http_limits(); }

}  // namespace hai
