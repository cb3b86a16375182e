#include "sim/explore/small_world.h"

#include <fmt/core.h>

#include <algorithm>

#include "common/check.h"
#include "server/control/nodes/fencing.h"

namespace hai {
namespace {

constexpr Duration kForEver = 10'000h;
// Of loops: at one moment shims come first, then agents, then servers.
constexpr int kFirstNodeRank = 2;
constexpr int kFirstServerRank = 1'000;
constexpr Duration kGrain = 50ms;  // what takes less takes no time
// After the last fault: every lease, fence and give-up has shown its effect; then programs end.
constexpr Duration kCalmBeforeEnds = 24s;

std::vector<std::string> names_of_nodes(const Model& model) {
  std::vector<std::string> names;
  for (int i = 0; i < model.nodes; ++i) names.push_back(fmt::format("node-{}", i + 1));
  return names;
}

NodeFacts facts_of(const Model& model, int index) {
  return {.name = fmt::format("node-{}", index + 1),
          .group = index < model.roomy_nodes ? "training" : "witnesses",
          .zone = "A",
          .leaf = fmt::format("leaf-{}", index + 1),
          .address = fmt::format("10.0.0.{}", index + 1),
          .gpus = 1,
          .cpus = 1,
          .memory_bytes = int64_t{1} << 30,
          .peer_port = 7703};
}

}  // namespace

SmallWorld::SmallWorld(const Model& model, Listener* listener)
    : model_(model),
      listener_(listener),
      loop_(timeline_),
      database_(loop_, {.keep_events = false}),
      wire_(timeline_, names_of_nodes(model), model.servers) {
  timeline_.grain = kGrain;
  loop_.set_rank(1);
  wire_.on_order = [this](const AgentOrder& order) { checkers_.check_order(order, database_); };
  servers_.resize(model_.servers);
  for (int i = 0; i < model_.nodes; ++i) {
    nodes_.push_back(std::make_unique<Node>());
    Node& node = *nodes_.back();
    node.machine =
        std::make_unique<SimNode>(timeline_, dice_, facts_of(model_, i), 1, *this, &node.clock);
    node.machine->set_rank(kFirstNodeRank + 2 * i);
    node.machine->start_max = node.machine->kill_max = Duration{0};
  }
  warm_up();
}

SmallWorld::~SmallWorld() {
  for (int i = 0; i < model_.servers; ++i) crash_server(i);
  for (int i = 0; i < model_.nodes; ++i) crash_agent(i);
}

void SmallWorld::start_server(int index) {
  Server& server = servers_[index];
  server.loop = std::make_unique<VirtualLoop>(timeline_);
  server.loop->set_rank(kFirstServerRank + index);
  server.store = std::make_unique<MemStore>(
      *server.loop, database_, fmt::format("server-{}:{}", index + 1, ++server.starts));
  server.agents = std::make_unique<WireAgents>(wire_);
  Bootstrap bootstrap{.admin_user = "ann", .public_quota_nodes = Quota::kUnlimited};
  server.controller = std::make_unique<Controller>(*server.loop, *server.store, *server.agents,
                                                   this, model_.knobs, bootstrap, "small");
  wire_.servers[index] = {server.loop.get(), server.controller.get()};
  server.controller->start();
}

void SmallWorld::crash_server(int index) {
  Server& server = servers_[index];
  if (server.controller == nullptr) return;
  server.store->crash();
  wire_.server_died(index);
  server.controller.reset();
  server.agents.reset();
  server.store.reset();
  server.loop.reset();
}

void SmallWorld::start_agent(int index) {
  Node& node = *nodes_[index];
  node.loop = std::make_unique<VirtualLoop>(timeline_, &node.clock);
  node.loop->set_rank(kFirstNodeRank + 2 * index + 1);
  wire_.agents[index].loop = node.loop.get();
  node.host = std::make_unique<SimHost>(*node.machine, *node.loop);
  node.link = std::make_unique<WireLink>(wire_, index);
  node.peers = std::make_unique<WirePeers>(wire_, index);
  node.keeper = std::make_unique<SimRecordKeeper>(*node.machine);
  node.agent = std::make_unique<Agent>(
      *node.loop, Agent::Ports{*node.host, *node.link, *node.peers, *node.keeper},
      node.machine->facts());
  node.agent->start();
}

void SmallWorld::crash_agent(int index) {
  Node& node = *nodes_[index];
  if (node.agent == nullptr) return;
  wire_.agent_died(index);
  node.agent.reset();
  node.keeper.reset();
  node.peers.reset();
  node.link.reset();
  node.host.reset();
  node.loop.reset();
}

void SmallWorld::warm_up() {
  for (int i = 0; i < model_.servers; ++i) start_server(i);
  timeline_.run_until(now());
  for (int i = 0; i < model_.nodes; ++i) {
    start_agent(i);
    settle();
    const MonoTime next = now() + model_.stagger;
    while (now() < next) pass_time();
  }
  // Leases are proven all through down_after, and all who lead do so for long.
  const MonoTime proven = now() + 2 * model_.knobs.down_after;
  while (now() < proven) pass_time();
  JobSpec spec;
  spec.name = "job";
  spec.workspace = "/sim";
  spec.entrypoint = "program";
  spec.node_count = model_.ranks;
  spec.environments = ProgramModel{.work = kForEver}.to_environment();
  servers_[0].controller->submit({.trusted_user = "ann"}, SubmitJob{spec, "request"},
                                 [](Result<CommandReply>) {});
  const MonoTime running = now() + 2 * model_.fault_grid;
  while (now() < running || now().time_since_epoch() % model_.fault_grid != Duration{0})
    pass_time();
  CHECK(job() != nullptr && job()->state == JobState::running && !violation());
  is_warm_ = true;
  budget_ = model_.budget;
  settle();
}

const Controller* SmallWorld::leader() const {
  for (const Server& server : servers_) {
    if (server.controller && server.controller->is_leading() && !server.is_paused())
      return server.controller.get();
  }
  return nullptr;
}

const Job* SmallWorld::job() const {
  auto it = database_.jobs().find(JobId{1});
  return it == database_.jobs().end() ? nullptr : &it->second;
}

bool SmallWorld::is_choosable(const WireMessage& message) const {
  if (!is_warm_ || is_calm()) return false;
  const bool is_of_peers =
      message.kind == WireMessage::Kind::question || message.kind == WireMessage::Kind::answer;
  if (is_of_peers && !model_.peer_news) return false;
  return budget_.has(Fault::hold) || budget_.has(Fault::lose) || budget_.has(Fault::repeat) ||
         !wire_.held.empty();
}

// Everything happens that happens at this moment whatever is chosen.
void SmallWorld::settle() {
  while (true) {
    timeline_.run_until(now());
    wire_.sweep();
    const WireMessage* first = wire_.first();
    if (first == nullptr || is_choosable(*first)) return;
    wire_.deliver(wire_.take_first());
  }
}

void SmallWorld::pass_time() {
  const std::optional<MonoTime> next = timeline_.next();
  CHECK(next.has_value());
  timeline_.run_until(*next);
  settle();
  watch_fences();
}

// What NeedlessKills is for the random simulation: the agent works, and its lease is alive, or a
// majority of its peers can say of theirs that it is dead and none can say else (design/0005).
bool SmallWorld::must_live_on(int index) const {
  const auto is_dead = [&](int node) {
    return nodes_[node]->loop->now() >= nodes_[node]->agent->lease_until();
  };
  const Node& node = *nodes_[index];
  if (node.loop->is_paused() || !node.machine->record) return false;
  if (!is_dead(index)) return true;
  if (model_.peer_news || wire_.agents[index].is_parted) return false;
  int answer_dead = 0;
  for (const Peer& peer : node.machine->record->peers.peers) {
    const auto other =
        static_cast<int>(std::ranges::find(wire_.names, peer.node) - wire_.names.begin());
    if (!is_dead(other)) return false;
    answer_dead += !nodes_[other]->loop->is_paused() && !wire_.agents[other].is_parted &&
                   nodes_[other]->agent->lease_until() != MonoTime{};
  }
  return answer_dead >= majority_of(static_cast<int>(node.machine->record->peers.peers.size()));
}

void SmallWorld::watch_fences() {
  if (!is_warm_) return;
  for (int i = 0; i < model_.nodes; ++i) {
    std::optional<MonoTime>& since = nodes_[i]->safe_since;
    if (!must_live_on(i)) {
      since.reset();
    } else if (!since) {
      since = now();
    }
  }
}

bool SmallWorld::is_over() const {
  if (!is_calm() || checkers_.live_processes() != 0) return false;
  const Controller* leading = leader();
  const Job* finished = job();
  if (leading == nullptr || finished == nullptr || !finished->is_terminal()) return false;
  return std::ranges::all_of(leading->state().nodes(), [](const auto& entry) {
    return entry.second.liveness == Liveness::up;
  });
}

// All faults end at once; held messages arrive in the order in which they were sent.
void SmallWorld::calm_down() {
  calm_since_ = now();
  budget_ = {};
  for (int i = 0; i < model_.servers; ++i) {
    if (servers_[i].controller == nullptr) start_server(i);
    servers_[i].loop->resume();
  }
  for (int i = 0; i < model_.nodes; ++i) {
    wire_.agents[i].is_cut = wire_.agents[i].is_parted = false;
    nodes_[i]->loop->resume();
  }
  timeline_.run_until(now());
  std::ranges::sort(wire_.held, {}, &WireMessage::sent_at);
  for (const WireMessage& message : std::exchange(wire_.held, {})) {
    wire_.deliver(message);
    timeline_.run_until(now());
  }
}

void SmallWorld::end_programs_that_run() {
  if (now() - *calm_since_ < kCalmBeforeEnds) return;
  const Job* running = job();
  if (running == nullptr || running->state != JobState::running) return;
  for (const std::unique_ptr<Node>& node : nodes_) {
    std::vector<RankKey> keys;
    node->machine->each_rank([&](const RankStatus& status, MonoTime) {
      if (status.phase == RankPhase::running) keys.push_back(status.key);
    });
    for (const RankKey& key : keys) node->machine->end_program(key, 0);
  }
}

void SmallWorld::durable(const std::vector<Event>& events, const ClusterState& state) {
  checkers_.check_state(events, state);
  for (const Event& event : events) {
    const auto* started = std::get_if<EpochStarted>(&event.body);
    if (started == nullptr) continue;
    if (started->epoch <= newest_epoch_) fail("fence: epochs do not grow");
    newest_epoch_ = started->epoch;
  }
  if (listener_ == nullptr) return;
  for (const Event& event : events) {
    if (const auto* placed = std::get_if<AttemptPlaced>(&event.body)) {
      std::string places;
      for (const RankPlacement& place : placed->placement)
        places += " " + state.find(place.node)->facts.name;
      tell(fmt::format("server: attempt {} is placed on{}", placed->attempt, places));
    } else if (const auto* live = std::get_if<NodeLivenessChanged>(&event.body)) {
      tell(fmt::format("server: {} is {}{}{}", state.find(live->node)->facts.name,
                       to_string(live->liveness), live->reason.empty() ? "" : ": ", live->reason));
    } else if (const auto* ended = std::get_if<RankEnded>(&event.body)) {
      tell(fmt::format("server: rank {} is {} ({})",
                       to_string(RankKey{ended->job, ended->attempt, ended->rank}),
                       to_string(ended->state), to_string(ended->cause)));
    } else if (const auto* epoch = std::get_if<EpochStarted>(&event.body)) {
      tell(fmt::format("server: epoch {} begins", epoch->epoch.value));
    } else if (std::holds_alternative<JobFinished>(event.body)) {
      tell("server: the job has ended");
    }
  }
}

void SmallWorld::process_started(const std::string& node, const LaunchRank& order,
                                 Duration lease_left) {
  tell(fmt::format("{}: the program of {} starts", node, to_string(order.key)));
  checkers_.process_started(node, order, lease_left);
}

void SmallWorld::process_ended(const std::string& node, const RankStatus& status) {
  tell(fmt::format("{}: the program of {} has ended ({})", node, to_string(status.key),
                   to_string(status.cause)));
  checkers_.process_ended(node, status);
  if (status.cause != ExitCause::fenced) return;
  const auto index = std::ranges::find(wire_.names, node) - wire_.names.begin();
  const std::optional<MonoTime>& since = nodes_[index]->safe_since;
  if (since && now() - *since >= kNeedlessAfter)
    fail("needless kill: " + to_string(status.key) + " is fenced on " + node);
}

}  // namespace hai
