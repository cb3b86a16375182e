#include "server/serving.h"

#include <algorithm>
#include <set>

#include "common/log.h"
#include "common/open_files.h"
#include "server/api/account_changes.h"
#include "server/api/actions.h"
#include "server/api/advisor.h"
#include "server/api/audit_trail.h"
#include "server/api/caller_board.h"
#include "server/api/certificate_watch.h"
#include "server/api/enrollment.h"
#include "server/api/event_feed.h"
#include "server/api/failure_limit.h"
#include "server/api/hour_counting.h"
#include "server/api/identity_board.h"
#include "server/api/image_pins.h"
#include "server/api/job_log.h"
#include "server/api/launch_secrets.h"
#include "server/api/log_router.h"
#include "server/api/log_search.h"
#include "server/api/munge_reader.h"
#include "server/api/observatory.h"
#include "server/api/oidc_sign_in.h"
#include "server/api/open_streams.h"
#include "server/api/operations.h"
#include "server/api/queries.h"
#include "server/api/queue_board.h"
#include "server/api/request_meter.h"
#include "server/api/server_roll.h"
#include "server/api/sign_in.h"
#include "server/api/standing_board.h"
#include "server/api/stored_logs.h"
#include "server/api/unix_directory.h"
#include "server/auth/token.h"
#include "server/config_rules.h"
#include "server/connection_shares.h"
#include "server/http/event_hub.h"
#include "server/http/event_stream.h"
#include "server/http/http_server.h"
#include "server/http/route_help.h"
#include "server/http/routes.h"
#include "server/http/service_desk.h"
#include "server/http/web_files.h"
#include "server/rpc/agent_gateway.h"
#include "server/rpc/agent_service.h"
#include "server/rpc/api_service.h"
#include "server/rpc/call_judge.h"
#include "server/rpc/grpc_server.h"
#include "server/rpc/shells.h"
#include "server/serving_files.h"

namespace hai {

namespace {

const std::set<std::string, std::less<>> kHealthPaths = {"/livez", "/metrics", "/readyz",
                                                         "/version"};
constexpr Duration kTokenLook = 500ms;
constexpr Duration kTokenNote = 1min;

}  // namespace

struct Serving::Impl {
  Impl(Loop& used_loop, Store& store, History* history, SampleStore* samples, AuditLog* audit_log,
       AuditBacklog audit_backlog, HourStore* hour_store, ServerStore* server_store,
       const ServerConfig& used_config, ServingSecrets used_secrets)
      : loop(used_loop),
        config(used_config),
        secrets(std::move(used_secrets)),
        audit(loop, callers, audit_log),
        controller(loop, store, gateway, &feed, config.knobs,
                   Bootstrap{.admin_user = config.admin_user,
                             .admin_token_hash = secrets.admin_token_hash,
                             .admin_token_ttl = config.admin_token_ttl,
                             .public_quota_nodes = config.default_quota_nodes},
                   config.cluster),
        actions(controller,
                {.sights = sights,
                 .history = history,
                 .sealer = sealer(),
                 .images = &images,
                 .ask_node =
                     [this](const std::string& node, const std::vector<std::string>& words,
                            std::function<void(const Status&)> done) {
                       shells.look(node, words, std::move(done));
                     }}),
        queries(controller, history, feed, sights),
        estimates(controller, feed, history),
        queue(loop, controller, queries, estimates),
        advisor(loop, controller, queries, estimates, queue, history),
        observatory(loop, controller, samples),
        hours(loop, controller, hour_store, config.history_keep),
        roll(loop, server_store, config.advertise.grpc,
             [this](const std::vector<std::string>& servers) { gateway.set_servers(servers); }),
        stored_logs(config.log_store.path.empty()
                        ? nullptr
                        : std::make_unique<StoredLogs>(loop, config.log_store)),
        logs(loop, gateway, stored_logs.get()),
        searches(loop, queries, logs),
        oidc(config.oidc.issuer.empty()
                 ? nullptr
                 : std::make_unique<OidcSignIn>(loop, config.oidc, secrets.oidc_client_secret)),
        sign_in({.loop = loop,
                 .controller = controller,
                 .callers = callers,
                 .accounts = accounts,
                 .rules = sign_in_rules(config),
                 .munge = decode_munge(),
                 .provider = oidc.get()}),
        agent_service(loop, gateway, !config.tls.ca.empty(), known.get()),
        enrollment(loop, controller,
                   {.authority = config.authority,
                    .believed = config.tls.ca,
                    .cluster = config.cluster,
                    .life = config.node_certificate_life}),
        operations({loop, queries, actions, advisor, observatory, enrollment, config.grpc_address,
                    sign_in, accounts, queue, hours, searches, services_url(config)}),
        api_service(site, operations, queries, logs),
        shells(site, queries, gateway, !config.tls.ca.empty(), &images),
        routes({.loop = loop,
                .standing = board,
                .callers = callers,
                .controller = controller,
                .observatory = observatory,
                .events = events,
                .streams = streams,
                .requests = requests,
                .calls = calls,
                .audit = audit,
                .audit_backlog = std::move(audit_backlog),
                .admission = admission,
                .queue = call_queue,
                .failures = failures,
                .operations = operations,
                .queries = queries,
                .advisor = advisor,
                .logs = logs,
                .agent_count = [this] { return gateway.connection_count(); },
                .grpc_trouble = [this] { return grpc ? grpc->trouble() : ""; },
                .scheme = config.tls.certificate.empty() ? "http" : "https",
                .http_address = config.advertise.http,
                .open_shell =
                    [this](const std::shared_ptr<ShellPeer>& person, const Caller& caller,
                           const std::string& address) {
                      return shells.person_came(person, caller, address);
                    },
                .sign_in = sign_in,
                .certificates = &certificates,
                .oidc = oidc.get(),
                .web = web,
                .has_status_page = config.status_page}) {
    sights.follow(feed);
    feed.add_observer([this](const std::vector<Event>& durable, const ClusterState& state) {
      // A revoked token ends its streams at once, not in the middle of what is told here.
      if (callers.follow(durable, state)) loop.post([this] { streams.check(); });
    });
    feed.add_observer([this](const std::vector<Event>& durable, const ClusterState& state) {
      if (identities.follow(durable, state)) gateway.look_again();
    });
    feed.add_observer([this](const std::vector<Event>& durable, const ClusterState& state) {
      observatory.events().count(durable, state);
    });
    feed.add_observer([this](const std::vector<Event>& durable, const ClusterState& state) {
      if (!events.is_wanted()) return;
      std::vector<EventHub::Frame> frames;
      for (const Event& event : durable) frames.push_back(event_frame(state, event));
      events.push(std::move(frames));
    });
    feed.add_observer(log_jobs);
    feed.set_standing_callback([this] { standing_changed(); });
    agent_service.set_renewal(
        [this](const std::string& node, UnixTime begins, const std::string& request,
               AgentService::Renewed done) { renew(node, begins, request, std::move(done)); });
    gateway.set_events(
        {.believe = [this](const std::string& node,
                           UnixTime begins) { return identities.admit(node, begins); },
         .prove = [this](const AgentHello& hello) { return judge.check_secret(hello.agent_token); },
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
         .open_secrets =
             [this](LaunchRank& order) { open_secrets(controller.state(), sealer(), order); },
         .disconnected =
             [this](ConnectionId id) {
               controller.agent_disconnected(id);
               logs.disconnected(id);
             },
         .log_chunk = [this](ConnectionId id, int64_t request,
                             const LogChunk& chunk) { logs.answered(id, request, chunk); },
         .stranger =
             [this](const std::string& node, const std::string& address, const Status& why) {
               audit.note({.caller = {},
                           .address = address,
                           .name = kAgentCall,
                           .facts = {.target = audit_target("node", node)}},
                          why);
             }});
  }

  const Sealer* sealer() const { return secrets.sealer ? &*secrets.sealer : nullptr; }

  void standing_changed() {
    const Standing now = controller.standing();
    const Standing before = board.get();
    board.set(now);
    observatory.standing_changed();
    if (!now.is_leading() && !now.stale_since) {
      callers.forget();
      events.cut_all("this server does not lead any more");
      shells.close_all(unavailable("this server does not lead any more, and the shell has ended"));
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

  DecodeMunge decode_munge() {
    if (!config.munge_socket) return nullptr;
    munge = std::make_unique<MungeReader>(loop, *config.munge_socket);
    return [this](std::string credential, const Done<std::string>& done) {
      munge->read(std::move(credential), [this, done](const Result<std::string>& user) {
        if (!user.is_ok()) return done(user);
        directory.look_up(user.value(), sign_in.rules().munge_creates_users,
                          [done, user] { done(user); });
      });
    };
  }

  // Tokens end by time, too, and what was used is noted for people to see.
  void look_at_tokens() {
    token_timer = loop.call_after(kTokenLook, [this] { look_at_tokens(); });
    streams.check();
    if (!controller.standing().is_leading() || loop.now() < next_note) return;
    next_note = loop.now() + kTokenNote;
    NoteTokenUses command{callers.uses_to_note()};
    if (command.used.empty() && !callers.has_tokens_to_remove()) return;
    controller.submit({.is_server = true}, std::move(command), [](const Result<CommandReply>&) {});
  }

  void renew(const std::string& node, UnixTime begins, const std::string& request,
             AgentService::Renewed done) {
    if (!board.get().is_leading()) return done(unavailable("this server does not lead"));
    enrollment.renew(node, begins, request,
                     [done = std::move(done)](const Result<Enrollment::Certificate>& made) {
                       if (!made.is_ok()) return done(made.status());
                       v1::RenewReply reply;
                       reply.set_certificate(made.value().certificate);
                       reply.set_authorities(made.value().authorities);
                       done(std::move(reply));
                     });
  }

  Status prepare() {
    Result<WebFiles> dashboard = load_dashboard(config);
    RETURN_IF_ERROR(dashboard.status());
    web = std::move(dashboard).value();
    RETURN_IF_ERROR(check_tls(config));
    const Result<std::string> peer_secret = read_peer_secret(config);
    RETURN_IF_ERROR(peer_secret.status());
    if (!peer_secret.value().empty()) gateway.set_peer_secret(peer_secret.value());
    return ok();
  }

  std::optional<std::string> who_asks(const HttpRequest& head) const {
    const Caller caller = caller_of(head);
    if (!callers.knows(caller)) return std::nullopt;
    return callers.user_of(caller);
  }

  HttpLimits http_limits() {
    return {.who = [this](const HttpRequest& head) { return who_asks(head); },
            .turn_away = [this](const HttpRequest& head) { return routes.turn_away(head); }};
  }

  HttpLimits http_limits_of(size_t connections) {
    HttpLimits limits = http_limits();
    limits.connections = connections;
    return limits;
  }

  // Nobody can prove anything to one: it does not know who people are, and takes no agents.
  bool is_standby() const {
    return board.get().mode == ServerMode::standby && !callers.knows_people();
  }

  // HTTP first: it needs no loop to go away again if gRPC's address is taken.
  Status listen() {
    const ConnectionShares shares = connection_shares(allow_many_open_files());
    const size_t for_services = config.services_address.empty() ? 0 : shares.http / 4;
    Result<std::unique_ptr<HttpServer>> http_started = HttpServer::start(
        config.http_address, http_limits_of(shares.http - for_services),
        [this](const HttpRequest& request, HttpRespond respond) {
          routes.handle_public(request, !config.health_address.empty(), std::move(respond));
        },
        config.tls);
    if (!http_started.is_ok()) return http_started.status();
    RETURN_IF_ERROR(listen_for_health());
    RETURN_IF_ERROR(listen_for_services(for_services));
    Result<std::unique_ptr<GrpcServer>> grpc_started =
        GrpcServer::start(config.grpc_address,
                          {&agent_service, &api_service, &shells.of_people(), &shells.of_agents()},
                          {.limits = {.connections = {.all = shares.grpc - shares.grpc / 8,
                                                      .per_address = shares.grpc / 4},
                                      .at_once = shares.grpc / 2,
                                      .silent = shares.grpc / 8,
                                      .strangers_end_soon = [this] { return is_standby(); }},
                           .known = known,
                           .guard = [this](const CallHead& head) { return judge.judge(head); },
                           .others = &api_service.for_anyone()},
                          config.tls);
    if (!grpc_started.is_ok()) return grpc_started.status();
    http = std::move(http_started).value();
    grpc = std::move(grpc_started).value();
    return ok();
  }

  Status listen_for_services(size_t connections_max) {
    if (config.services_address.empty()) return ok();
    Result<std::unique_ptr<HttpServer>> started =
        HttpServer::start(config.services_address, http_limits_of(connections_max),
                          make_service_gate(routes.parts()), config.tls);
    if (!started.is_ok()) return started.status();
    services = std::move(started).value();
    return ok();
  }

  // Whoever floods the other ports is not in the way here: few connections, a thread of its own.
  Status listen_for_health() {
    if (config.health_address.empty()) return ok();
    Result<std::unique_ptr<HttpServer>> started = HttpServer::start(
        config.health_address, {.connections = 64, .body_bytes = 0, .read_timeout = 5s},
        [this](const HttpRequest& request, HttpRespond respond) {
          if (kHealthPaths.contains(request.path))
            return routes.handle(request, std::move(respond));
          respond(problem(not_found("only /livez, /readyz, /metrics and /version are here")));
        });
    if (!started.is_ok()) return started.status();
    health = std::move(started).value();
    return ok();
  }

  void reload(const ServerConfig& now) {
    streams.set_limits(stream_limits(now));
    images.set_registries(now.image_registries);
    hours.set_keep(now.history_keep);
    if (stored_logs) stored_logs->set_rules(now.log_store.rules, now.log_store.sweep_every);
    sign_in.set_rules(sign_in_rules(now));
    if (oidc) oidc->set_rules(now.oidc);
    if (sights.change(now.visibility)) streams.look_again();
  }

  // nullopt: another server leads, and knows them.
  std::optional<std::set<StoredLogs::AttemptKey>> live_attempts() const {
    if (!controller.is_leading()) return std::nullopt;
    std::set<StoredLogs::AttemptKey> live;
    for (const auto& [id, job] : controller.state().jobs()) {
      if (job.has_live_attempt()) live.emplace(id, job.attempt->number);
    }
    return live;
  }

  // Leadership goes first, so that a standby takes over while calls still end here.
  void stop(std::function<void()> stopped) {
    loop.cancel(token_timer);
    certificates.stop();
    directory.stop();
    controller.stop([this, stopped = std::move(stopped)] {
      gateway.close_all(unavailable("the server stops"));
      shells.close_all(unavailable("the server stops, and the shell has ended"));
      grpc->stop(loop, [this, stopped] {
        services.reset();
        http.reset();
        health.reset();
        // What the ended calls have posted runs before the parts it uses go.
        loop.post([this, stopped] {
          call_queue.run_all();
          audit.stop(stopped);
        });
      });
    });
  }

  Loop& loop;
  const ServerConfig config;
  const ServingSecrets secrets;
  Admission admission;
  CallQueue call_queue{loop};
  RequestMeter calls;                                                        // of gRPC
  const std::shared_ptr<KnownPeers> known = std::make_shared<KnownPeers>();  // of gRPC
  UnreadCalls unread;                                                        // of gRPC
  AgentGateway gateway;
  EventFeed feed;
  Sights sights{config.visibility};
  StandingBoard board;
  CallerBoard callers{[this] { return loop.wall_now(); }};
  OpenStreams streams{callers, stream_limits(config), [this](const Actor& actor) {
                        return queries.sight_of(controller.state(), actor);
                      }};
  FailureLimit failures;
  TimerId token_timer = 0;
  MonoTime next_note{};
  CertificateWatch certificates{loop, config.tls};
  std::unique_ptr<MungeReader> munge;
  AuditTrail audit;
  const CallSite site{loop,    board, callers, admission, call_queue, calls,
                      streams, audit, *known,  unread,    failures};
  IdentityBoard identities;
  CallJudge judge{site,
                  identities,
                  gateway,
                  {.wants_certificates = !config.tls.ca.empty(), .secret = secrets.agent_token}};
  Controller controller;
  ImagePins images{loop, {.registries = config.image_registries}};
  Actions actions;
  AccountChanges accounts{controller, audit};
  UnixDirectory directory{loop, controller, accounts, config.unix_groups};
  Queries queries;
  StartEstimates estimates;
  QueueBoard queue;
  Advisor advisor;
  Observatory observatory;
  HourCounting hours;
  ServerRoll roll;
  const std::unique_ptr<StoredLogs> stored_logs;  // nullptr = logs are on their nodes only
  LogRouter logs;
  LogSearches searches;
  const std::unique_ptr<OidcSignIn> oidc;  // nullptr = no identity provider
  SignInDesk sign_in;
  AgentService agent_service;
  Enrollment enrollment;
  Operations operations;
  ApiService api_service;
  Shells shells;
  EventHub events;
  RequestMeter requests;
  WebFiles web;
  HttpRoutes routes;
  std::unique_ptr<GrpcServer> grpc;
  std::unique_ptr<HttpServer> health;    // nullptr = it has no port of its own
  std::unique_ptr<HttpServer> services;  // nullptr = none
  std::unique_ptr<HttpServer> http;      // these go first: their threads use all above
};

Serving::Serving(Loop& loop, Store& store, History* history, SampleStore* samples,
                 const ServerConfig& config, ServingSecrets secrets, AuditLog* audit,
                 AuditBacklog audit_backlog, HourStore* hours, ServerStore* servers)
    : impl_(std::make_unique<Impl>(loop, store, history, samples, audit, std::move(audit_backlog),
                                   hours, servers, config, std::move(secrets))) {}
Serving::~Serving() = default;

Status Serving::prepare() { return impl_->prepare(); }
Status Serving::listen() { return impl_->listen(); }
void Serving::start() {
  impl_->controller.start();
  impl_->next_note = impl_->loop.now() + kTokenNote;
  impl_->look_at_tokens();
  impl_->certificates.start();
  impl_->directory.start();
  if (impl_->stored_logs) {
    impl_->stored_logs->start([impl = impl_.get()] { return impl->live_attempts(); });
  }
}
void Serving::reload(const ServerConfig& config) { impl_->reload(config); }
void Serving::stop(std::function<void()> stopped) { impl_->stop(std::move(stopped)); }
int Serving::grpc_port() const { return impl_->grpc->port(); }
int Serving::http_port() const { return impl_->http->port(); }
int64_t Serving::calls_under_way() const { return impl_->admission.under_way(); }
Controller& Serving::controller() { return impl_->controller; }
Operations& Serving::operations() { return impl_->operations; }
const HttpRoutes& Serving::routes() { return impl_->routes; }
HttpLimits Serving::http_limits() { return impl_->http_limits(); }

}  // namespace hai
