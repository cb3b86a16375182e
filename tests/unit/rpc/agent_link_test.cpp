// The agent's link and the server's gateway, over loopback gRPC.

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <optional>

#include "agent/rpc/log_waiter.h"
#include "agent/rpc/server_link.h"
#include "agent/rpc/server_list.h"
#include "agent/rpc/server_stream.h"
#include "server/rpc/agent_gateway.h"
#include "server/rpc/agent_service.h"
#include "server/rpc/grpc_server.h"
#include "tests/unit/rpc/run_until.h"

namespace hai {
namespace {

class FakeLogs final : public LogSource {
 public:
  LogChunk read(const LogRequest& request) override {
    ++reads;
    const auto offset =
        static_cast<size_t>(std::min<int64_t>(request.offset, static_cast<int64_t>(text.size())));
    LogChunk chunk{.data = text.substr(offset, static_cast<size_t>(request.max_bytes))};
    chunk.offset = static_cast<int64_t>(offset);
    chunk.next_offset = chunk.offset + static_cast<int64_t>(chunk.data.size());
    return chunk;
  }
  std::string text;
  int reads = 0;
};

// A server as far as agents see it.
struct TestServer {
  explicit TestServer(AsioLoop& used_loop, const std::string& address = "127.0.0.1:0",
                      ProtocolRange protocols = kProtocols)
      : loop(used_loop), gateway(protocols), service(loop, gateway), logs(loop, gateway) {
    gateway.set_events(
        {.admit = [this](const AgentHello& hello) { return admit(hello); },
         .is_undecided = [this] { return is_undecided; },
         .connected = [this](ConnectionId id, const AgentHello&) { connected.push_back(id); },
         .report = [this](ConnectionId id,
                          const AgentReport& report) { reports.emplace_back(id, report); },
         .disconnected =
             [this](ConnectionId id) {
               disconnected.push_back(id);
               logs.disconnected(id);
             },
         .log_chunk = [this](ConnectionId id, int64_t request,
                             const LogChunk& chunk) { logs.answered(id, request, chunk); }});
    Result<std::unique_ptr<GrpcServer>> started = GrpcServer::start(address, {&service});
    EXPECT_TRUE(started.is_ok()) << started.status().message();
    server = std::move(started).value();
  }
  ~TestServer() { stop(); }

  void stop() {
    if (!server) return;
    bool stopped = false;
    server->stop(loop, [&] { stopped = true; });
    EXPECT_TRUE(run_until(loop, [&] { return stopped; }));
    server.reset();
  }
  std::string address() const { return fmt::format("127.0.0.1:{}", server->port()); }

  AsioLoop& loop;
  AgentGateway gateway;
  AgentService service;
  LogRouter logs;
  std::unique_ptr<GrpcServer> server;
  std::function<Status(const AgentHello&)> admit = [](const AgentHello&) { return ok(); };
  bool is_undecided = false;
  std::vector<ConnectionId> connected;
  std::vector<ConnectionId> disconnected;
  std::vector<std::pair<ConnectionId, AgentReport>> reports;
};

struct TestAgent {
  TestAgent(AsioLoop& loop, std::vector<std::string> servers, Duration backoff_max = 50ms,
            Duration connect_timeout = 2s, std::vector<std::string>* told = nullptr)
      : link(loop, logs,
             {.servers = std::move(servers),
              .told_servers = told == nullptr ? std::vector<std::string>() : *told,
              .agent_token = "secret",
              .node = "n1",
              .told_of_servers =
                  [told](const std::vector<std::string>& servers) {
                    if (told != nullptr) *told = servers;
                  },
              .backoff_min = 10ms,
              .backoff_max_in_hurry = 20ms,
              .backoff_max = backoff_max,
              .connect_timeout = connect_timeout}) {
    link.start({.connected = [this] { ++connects; },
                .order = [this](const AgentOrder& order) { orders.push_back(order); },
                .disconnected = [this] { ++disconnects; }});
  }
  FakeLogs logs;
  GrpcServerLink link;
  int connects = 0;
  int disconnects = 0;
  std::vector<AgentOrder> orders;
};

// A server that is stopped: the kernel takes connections, and nobody answers them.
class MuteServer {
 public:
  MuteServer() {
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(socket_, generic, size), 0);
    EXPECT_EQ(listen(socket_, 16), 0);
    EXPECT_EQ(getsockname(socket_, generic, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~MuteServer() { close(socket_); }
  std::string address() const { return fmt::format("127.0.0.1:{}", port_); }
  bool was_dialled() const {
    pollfd waiting{.fd = socket_, .events = POLLIN};
    return poll(&waiting, 1, 0) == 1;
  }

 private:
  int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
};

AgentReport report_number(int64_t sequence) { return {.node = "n1", .sequence = sequence}; }

// Found by tests/e2e/chaos: an agent that waited for a stopped server missed the one that led.
TEST(AgentLink, AMuteServerIsNotWaitedForAtFirst) {
  AsioLoop loop;
  MuteServer mute;
  TestServer server(loop);
  const Duration longer_than_the_test_waits = 15s;
  // Whom an agent dials first is drawn: of two agents with the servers in either order one begins
  // with the mute one.
  TestAgent one(loop, {mute.address(), server.address()}, 50ms, longer_than_the_test_waits);
  TestAgent other(loop, {server.address(), mute.address()}, 50ms, longer_than_the_test_waits);
  EXPECT_TRUE(run_until(loop, [&] { return one.connects == 1 && other.connects == 1; }));
  EXPECT_TRUE(mute.was_dialled());
}

TEST(AgentLink, ReportsAndOrdersArrive) {
  AsioLoop loop;
  TestServer server(loop);
  TestAgent agent(loop, {server.address()});
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));
  ASSERT_EQ(server.connected.size(), 1u);

  AgentReport report = report_number(1);
  report.facts = NodeFacts{.name = "n1", .group = "training", .gpus = 8};
  report.ranks = {{.key = {JobId{1}, 1, 0}, .phase = RankPhase::running}};
  agent.link.send(report);
  ASSERT_TRUE(run_until(loop, [&] { return !server.reports.empty(); }));
  EXPECT_EQ(server.reports[0].second, report);

  std::vector<AgentOrder> orders;
  for (int i = 1; i <= 100; ++i) orders.push_back({Epoch{1}, KillRank{{JobId{i}, 1, 0}}});
  for (const AgentOrder& order : orders) server.gateway.send(server.connected[0], order);
  ASSERT_TRUE(run_until(loop, [&] { return agent.orders.size() == orders.size(); }));
  EXPECT_EQ(agent.orders, orders);
}

// What an agent reads of the launch of rank 1, if agent and server speak these protocols.
LaunchRank launch_between(ProtocolRange of_agent, ProtocolRange of_server) {
  AsioLoop loop;
  TestServer server(loop, "127.0.0.1:0", of_server);
  std::optional<AgentOrder> got;
  const auto stream =
      ServerStream::open(loop,
                         {.server = server.address(),
                          .hello = {.protocols = of_agent, .agent_token = "secret", .node = "n1"},
                          .tls = {},
                          .keepalive = 5s,
                          .codec = std::make_shared<PlacesCodec>()},
                         {.accepted = [] {},
                          .order = [&got](const AgentOrder& order) { got = order; },
                          .read_log = [](int64_t, const LogRequest&) {},
                          .done = [](const Status& status) { ADD_FAILURE() << status.message(); }});
  EXPECT_TRUE(run_until(loop, [&] { return !server.connected.empty(); }));
  AgentOrder order{.epoch = Epoch{1}, .body = LaunchRank{}};
  std::get<LaunchRank>(order.body).key = {JobId{1}, 1, 1};
  std::get<LaunchRank>(order.body).ranks = {{.node = "n0", .address = "a0", .leaf = "l0"},
                                            {.node = "n1", .address = "a1", .leaf = "l1"}};
  server.gateway.send(server.connected.front(), order);
  EXPECT_TRUE(run_until(loop, [&] { return got.has_value(); }));
  stream->close_and_wait();
  return std::get<LaunchRank>(got->body);
}

TEST(AgentLink, AnOlderSideMakesLaunchesNameAllPlacesInFull) {
  constexpr ProtocolRange kOld{.oldest = 1, .newest = 1};
  const RankPlaces in_full = {{.node = "n0", .address = "a0", .leaf = "l0"},
                              {.node = "n1", .address = "a1", .leaf = "l1"}};
  for (const auto& [of_agent, of_server] :
       {std::pair(kOld, kProtocols), std::pair(kProtocols, kOld)}) {
    const LaunchRank read = launch_between(of_agent, of_server);
    EXPECT_EQ(read.ranks, in_full);
    EXPECT_EQ(read.here, std::nullopt);
  }
  const LaunchRank read = launch_between(kProtocols, kProtocols);
  EXPECT_EQ(read.ranks, (RankPlaces{{.node = "n0", .address = "a0"}, {.node = "n1"}}));
  EXPECT_EQ(read.here, in_full[1]);
}

// Orders of one moment share messages, and no message is more than an agent takes: the stream broke
// with the launches of a few large jobs, and with each connection after it.
TEST(AgentLink, ManyLargeOrdersArrive) {
  AsioLoop loop;
  TestServer server(loop);
  TestAgent agent(loop, {server.address()});
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));
  std::vector<AgentOrder> orders;
  for (int i = 1; i <= 40; ++i) {
    LaunchRank launch{.key = {JobId{i}, 1, 0}, .user = "ann"};
    launch.ranks = {{.node = "n1", .address = "127.0.0.1"}};
    launch.environments["LARGE"] = std::string(300 << 10, 'x');
    orders.push_back({Epoch{1}, launch});
  }
  for (int round = 1; round <= 2; ++round) {  // after small messages and after large ones
    for (const AgentOrder& order : orders) server.gateway.send(server.connected[0], order);
    ASSERT_TRUE(run_until(loop, [&] { return agent.orders.size() == round * orders.size(); }));
    AgentOrder told = orders.back();
    std::get<LaunchRank>(told.body).here = std::get<LaunchRank>(told.body).ranks[0];
    EXPECT_EQ(agent.orders.back(), told);
  }
  EXPECT_EQ(agent.disconnects, 0);
}

TEST(AgentLink, OnlyTheNewestReportIsKeptButNoFactsAreLost) {
  AsioLoop loop;
  TestServer server(loop);
  TestAgent agent(loop, {server.address()});
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));

  // One burst while the loop is not running: the first leaves, unless the others were quicker, and
  // those in between are replaced.
  agent.link.send(report_number(1));
  AgentReport with_facts = report_number(2);
  with_facts.facts = NodeFacts{.name = "n1", .group = "training"};
  agent.link.send(with_facts);
  for (int i = 3; i <= 1'000; ++i) agent.link.send(report_number(i));
  ASSERT_TRUE(run_until(loop, [&] {
    return !server.reports.empty() && server.reports.back().second.sequence == 1'000;
  }));
  EXPECT_LE(server.reports.size(), 2u);
  EXPECT_EQ(server.reports.back().second.facts, with_facts.facts);
}

// With more than one message may have, the stream broke and the node was silent for good.
TEST(AgentLink, LifeStatesOfManyRanksAreReportedInTurn) {
  AsioLoop loop;
  TestServer server(loop);
  TestAgent agent(loop, {server.address()});
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));
  std::map<RankKey, RankStatus> unheard;
  for (int i = 1; i <= 200; ++i) {
    RankStatus status{.key = {JobId{i}, 1, 0}, .phase = RankPhase::running};
    status.whole_life_state = std::string(64 << 10, 'x') + std::to_string(i);
    if (i % 2 == 0) {
      status.phase = RankPhase::exited;
      status.cause = ExitCause::program;
      status.exit_code = 3;
    }
    unheard[status.key] = status;
  }
  std::map<RankKey, RankStatus> on_node = unheard;
  for (int64_t sequence = 1; sequence <= 10 && !unheard.empty(); ++sequence) {
    AgentReport report = report_number(sequence);
    for (const auto& [key, status] : on_node) report.ranks.push_back(status);
    agent.link.send(report);
    ASSERT_TRUE(run_until(loop, [&] {
      return !server.reports.empty() && server.reports.back().second.sequence == sequence;
    }));
    ASSERT_EQ(server.reports.back().second.ranks.size(), on_node.size());
    for (const RankStatus& told : server.reports.back().second.ranks) {
      if (told.phase == RankPhase::exited) {
        EXPECT_EQ(told, on_node.at(told.key)) << "the last word comes with the end";
        on_node.erase(told.key);  // as a server has it forgotten
        unheard.erase(told.key);
      } else if (told.whole_life_state) {
        unheard.erase(told.key);
      }
    }
  }
  EXPECT_TRUE(unheard.empty());
  EXPECT_EQ(server.connected.size(), 1u) << "the stream has not broken";
}

TEST(AgentLink, ARefusedAgentTriesTheNextServer) {
  AsioLoop loop;
  TestServer standby(loop);
  standby.admit = [](const AgentHello&) { return unavailable("standby"); };
  TestServer leader(loop);
  TestAgent agent(loop, {standby.address(), leader.address(), "127.0.0.1:1"});
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));
  EXPECT_EQ(leader.connected.size(), 1u);
  EXPECT_EQ(standby.gateway.connection_count(), 0u);
}

// Its config names one server, and that is gone for good.
TEST(AgentLink, GoesToAServerThatItWasToldOf) {
  AsioLoop loop;
  std::optional<TestServer> first;
  first.emplace(loop);
  TestServer second(loop);
  std::vector<std::string> told;
  TestAgent agent(loop, {first->address()}, 50ms, 2s, &told);
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));
  EXPECT_EQ(first->connected.size(), 1u);

  const std::vector<std::string> all = {second.address(), first->address()};
  first->gateway.set_servers(all);
  ASSERT_TRUE(run_until(loop, [&] { return told == all; }));
  first.reset();
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 2; }));
  EXPECT_EQ(second.connected.size(), 1u);
}

TEST(AgentLink, IsToldOfServersWhenItComesAndKnowsThemFromBefore) {
  AsioLoop loop;
  TestServer server(loop);
  server.gateway.set_servers({"127.0.0.1:1", server.address()});
  std::vector<std::string> told = {server.address()};
  TestAgent agent(loop, {"127.0.0.1:1"}, 50ms, 2s, &told);
  ASSERT_TRUE(run_until(loop, [&] { return told.size() == 2; }));
  EXPECT_EQ(told.front(), "127.0.0.1:1");
  EXPECT_EQ(agent.connects, 1);
}

TEST(AgentLink, TakesOnlyServersThatItMayGoTo) {
  using Servers = std::vector<std::string>;
  EXPECT_EQ(all_servers({"a:1"}, {"b:1", "a:1", "", "b", "b:0", ":1", "b:1", "c:2"}),
            (Servers{"a:1", "b:1", "c:2"}));
  Servers many;
  for (int i = 1; i <= 100; ++i) many.push_back(fmt::format("b:{}", i));
  EXPECT_EQ(all_servers({"a:1"}, many).size(), 1 + kServersMax);
  // Whose servers are on its own machine may speak to them in plain text, and to no other.
  EXPECT_EQ(all_servers({"127.0.0.1:1"}, {"b:1", "localhost:2"}),
            (Servers{"127.0.0.1:1", "localhost:2"}));
}

// Pauses that grew by half each would be hours long by then.
TEST(AgentLink, KnocksOftenInTheFirstMinuteAlone) {
  AsioLoop loop;
  TestServer standby(loop);
  int asked = 0;
  standby.admit = [&asked](const AgentHello&) { return ++asked, unavailable("standby"); };
  TestAgent agent(loop, {standby.address()}, 10h);
  ASSERT_TRUE(run_until(loop, [&] { return asked == 40; }));
}

TEST(AgentLink, WaitsAtAServerThatIsAboutToLead) {
  AsioLoop loop;
  TestServer server(loop);
  server.is_undecided = true;
  int asked = 0;
  server.admit = [&asked](const AgentHello&) { return ++asked, ok(); };
  TestAgent agent(loop, {server.address()});
  ASSERT_TRUE(run_until(loop, [&] { return server.gateway.waiting_count() == 1; }));
  EXPECT_EQ(asked, 0);
  server.is_undecided = false;
  server.gateway.decide_waiting();
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));
  EXPECT_EQ(server.connected.size(), 1u);
  EXPECT_EQ(server.gateway.waiting_count(), 0u);
}

TEST(AgentLink, ComesBackWhenTheServerCutsOrRestarts) {
  AsioLoop loop;
  std::optional<TestServer> server;
  server.emplace(loop);
  const std::string address = server->address();
  TestAgent agent(loop, {address});
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));

  server->gateway.close(server->connected[0], "try again");
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 2; }));
  EXPECT_EQ(agent.disconnects, 1);
  EXPECT_EQ(server->disconnected.size(), 1u);

  server.reset();
  ASSERT_TRUE(run_until(loop, [&] { return agent.disconnects == 2; }));
  server.emplace(loop, address);
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 3; }));
}

TEST(AgentLink, LastWordsArriveBeforeTheEnd) {
  AsioLoop loop;
  TestServer server(loop);
  TestAgent agent(loop, {server.address()});
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));
  const AgentOrder refusal{Epoch{3}, RefuseAgent{"two agents say they are n1"}};
  server.gateway.send(server.connected[0], refusal);
  server.gateway.close(server.connected[0], "refused");
  ASSERT_TRUE(run_until(loop, [&] { return agent.disconnects == 1; }));
  ASSERT_EQ(agent.orders.size(), 1u);
  EXPECT_EQ(agent.orders[0], refusal);
}

TEST(AgentLink, AReportOfAnotherNodeEndsTheStream) {
  AsioLoop loop;
  TestServer server(loop);
  TestAgent agent(loop, {server.address()});
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));
  agent.link.send({.node = "n2", .sequence = 1});
  ASSERT_TRUE(run_until(loop, [&] { return agent.disconnects == 1; }));
  EXPECT_TRUE(server.reports.empty());
}

TEST(AgentLink, LogsAreRead) {
  AsioLoop loop;
  TestServer server(loop);
  TestAgent agent(loop, {server.address()});
  agent.logs.text = "hello";
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));
  std::optional<Result<LogChunk>> answer;
  const LogRequest request{.key = {JobId{1}, 1, 0}, .offset = 1, .max_bytes = 3};
  server.logs.read("n1", request, [&](Result<LogChunk> chunk) { answer = std::move(chunk); });
  ASSERT_TRUE(run_until(loop, [&] { return answer.has_value(); }));
  ASSERT_TRUE(answer->is_ok()) << answer->status().message();
  EXPECT_EQ(answer->value(), (LogChunk{.data = "ell", .offset = 1, .next_offset = 4}));
}

TEST(AgentLink, AReaderAtTheEndWaitsForMore) {
  AsioLoop loop;
  TestServer server(loop);
  TestAgent agent(loop, {server.address()});
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));
  std::optional<Result<LogChunk>> answer;
  const LogRequest request{.key = {JobId{1}, 1, 0}, .wait = 10s};
  server.logs.read("n1", request, [&](Result<LogChunk> chunk) { answer = std::move(chunk); });
  ASSERT_TRUE(run_until(loop, [&] { return agent.logs.reads >= 2; }));
  EXPECT_FALSE(answer.has_value());
  agent.logs.text = "more";
  ASSERT_TRUE(run_until(loop, [&] { return answer.has_value(); }));
  EXPECT_EQ(answer->value().data, "more");
}

// Each asks again at once when nothing has come: beyond so many, all of them did all the time.
TEST(AgentLink, ReadersBeyondThoseThatMayWaitAreAnsweredAfterAMoment) {
  AsioLoop loop;
  TestServer server(loop);
  TestAgent agent(loop, {server.address()});
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));
  const LogRequest request{.key = {JobId{1}, 1, 0}, .wait = 10s};
  for (size_t i = 0; i < LogWaiter::kMaxWaiting; ++i)
    server.logs.read("n1", request, [](const Result<LogChunk>&) {});
  const MonoTime asked = loop.now();
  std::optional<Result<LogChunk>> answer;
  server.logs.read("n1", request, [&](Result<LogChunk> chunk) { answer = std::move(chunk); });
  ASSERT_TRUE(run_until(loop, [&] { return answer.has_value(); }));
  EXPECT_TRUE(answer->value().data.empty());
  EXPECT_GE(loop.now() - asked, LogWaiter::kPollPeriod);
}

TEST(AgentLink, LogRequestsFailWithTheirConnection) {
  AsioLoop loop;
  TestServer server(loop);
  TestAgent agent(loop, {server.address()});
  ASSERT_TRUE(run_until(loop, [&] { return agent.connects == 1; }));
  std::vector<Status> failures;
  auto fail = [&](Result<LogChunk> chunk) { failures.push_back(chunk.status()); };
  server.logs.read("n1", {.key = {JobId{1}, 1, 0}, .wait = 10s}, fail);
  server.logs.read("n7", {.key = {JobId{1}, 1, 0}}, fail);
  EXPECT_TRUE(failures.empty());
  server.gateway.close(server.connected[0], "try again");
  ASSERT_TRUE(run_until(loop, [&] { return failures.size() == 2; }));
  EXPECT_EQ(failures[0].code(), Code::unavailable);
  EXPECT_EQ(failures[1].code(), Code::unavailable);
}

}  // namespace
}  // namespace hai
