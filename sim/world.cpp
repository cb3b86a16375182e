#include "sim/world.h"

#include <fmt/core.h>

#include "sim/checked_planner.h"
#include "sim/random_world.h"

namespace hai {

namespace {

std::vector<NodeFacts> alike_nodes(const WorldOptions& options) {
  std::vector<NodeFacts> nodes;
  for (int i = 0; i < options.nodes; ++i) {
    nodes.push_back({.name = fmt::format("node-{}", i + 1),
                     .group = "training",
                     .zone = options.leaves > 2 && i >= options.nodes / 2 ? "B" : "A",
                     .leaf = fmt::format("leaf-{}", i * options.leaves / options.nodes + 1),
                     .address = fmt::format("10.0.0.{}", i + 1),
                     .gpus = options.gpus,
                     .cpus = kSimCpus,
                     .memory_bytes = kSimMemoryBytes,
                     .peer_port = 7703});
  }
  return nodes;
}

}  // namespace

World::World(const WorldOptions& options)
    : options_(options),
      world_loop_(timeline_),
      rng_(options.seed),
      database_(world_loop_, {.past_kept = options.store_goes_back ? kPastKept : 0}),
      network_(timeline_, dice_, rng_.next()) {
  dice_.now = timeline_.clock();
  if (options.plan_dice) options.plan_dice(dice_);
  servers_.resize(options.servers);
  network_.servers.resize(options.servers);
  network_.on_order = [this](const AgentOrder& order) { checkers_.check_order(order, database_); };
  for (int i = 0; i < server_count(); ++i) servers_[i].clock = random_clock(server_name(i));
  for (NodeFacts facts : options.facts.empty() ? alike_nodes(options) : options.facts) {
    facts.instance = "disk of " + facts.name;
    facts.machine = "machine " + facts.name;
    std::unique_ptr<NodeSlot> slot = make_slot(facts);
    const int index = static_cast<int>(nodes_.size());
    slot->node->hardware().reboot = [this, index] { reboot(index); };
    index_of_[facts.name] = index;
    nodes_.push_back(std::move(slot));
  }
  checkers_.judge_fenced = [this](const std::string& node) {
    return needless_kills_.judge(index_of(node));
  };
  checkers_.check_every = options_.check_every;
  watch();
}

std::unique_ptr<World::NodeSlot> World::make_slot(const NodeFacts& facts) {
  auto slot = std::make_unique<NodeSlot>();
  slot->clock = random_clock(facts.name);
  slot->node =
      std::make_unique<SimNode>(timeline_, dice_, facts, rng_.next(), checkers_, &slot->clock);
  return slot;
}

MachineClock World::random_clock(const std::string& machine) {
  auto drawn = [&](int64_t most) {
    return dice_.draw(Source::clock, machine, 0, rng_,
                      [most](Rng& rng) { return rng.between(-most, most); });
  };
  const Duration skew(drawn(500'000));
  return {.wall_skew = skew, .drift_ppm = drawn(options_.drift_ppm_max)};
}

void World::set_wall_skew(int machine, Duration skew) {
  MachineClock& clock =
      machine < server_count() ? servers_[machine].clock : nodes_[machine - server_count()]->clock;
  clock.wall_skew = skew;
}

void World::watch() {
  world_loop_.call_after(NeedlessKills::kPeriod, [this] {
    needless_kills_.sample();
    watch();
  });
}

int World::index_of(const std::string& node_name) const {
  auto it = index_of_.find(node_name);
  return it == index_of_.end() ? -1 : it->second;
}

World::~World() {
  while (!impostors_.empty()) stop_impostor(impostors_.begin()->first);
  for (int i = 0; i < server_count(); ++i) {
    if (server_runs(i)) crash_server(i);
  }
  for (int i = 0; i < node_count(); ++i) {
    if (agent_runs(i)) crash_agent(i);
  }
}

Controller* World::leader() {
  for (Server& server : servers_) {
    if (server.controller && server.controller->is_leading() && !server.loop->is_paused())
      return server.controller.get();
  }
  return nullptr;
}

void World::start_server(int index) {
  Server& server = servers_[index];
  CHECK(!server.controller);
  server.loop = std::make_unique<VirtualLoop>(timeline_, &server.clock);
  server.store = std::make_unique<MemStore>(*server.loop, database_,
                                            fmt::format("server-{}:{}", index, ++server.starts));
  server.agents = std::make_unique<SimAgentPort>(network_);
  auto planner = std::make_unique<CheckedPlanner>(
      [this](std::string what) { checkers_.fail(std::move(what)); }, options_.check_every);
  Bootstrap bootstrap{.admin_user = "ann", .public_quota_nodes = Quota::kUnlimited};
  server.controller =
      std::make_unique<Controller>(*server.loop, *server.store, *server.agents, this,
                                   options_.knobs, bootstrap, "sim", std::move(planner));
  network_.servers[index] = {server.loop.get(), server.controller.get()};
  server.controller->start();
}

void World::crash_server(int index) {
  Server& server = servers_[index];
  server.store->crash();
  network_.servers[index] = {};
  network_.server_died(index);
  server.controller.reset();
  server.agents.reset();
  server.store.reset();
  server.loop.reset();
}

void World::pause_server(int index, Duration duration) {
  if (servers_[index].loop) servers_[index].loop->pause(duration);
}

void World::start_agent(int index) { start_agent(*nodes_[index], node_name(index)); }

void World::start_agent(NodeSlot& slot, const std::string& location) {
  CHECK(!slot.agent);
  const NodeFacts& facts = slot.node->facts();
  slot.loop = std::make_unique<VirtualLoop>(timeline_, &slot.clock);
  slot.host = std::make_unique<SimHost>(*slot.node, *slot.loop);
  slot.link = std::make_unique<SimLink>(network_, *slot.loop, facts, location, rng_.next());
  slot.peers = std::make_unique<SimPeers>(network_, *slot.loop, facts, location);
  slot.keeper = std::make_unique<SimRecordKeeper>(*slot.node);
  slot.health = std::make_unique<SimHealth>(slot.node->hardware(), *slot.loop);
  slot.agent = std::make_unique<Agent>(
      *slot.loop,
      Agent::Ports{*slot.host, *slot.link, *slot.peers, *slot.keeper, slot.health.get()}, facts);
  slot.agent->start();
}

void World::crash_agent(int index) { crash_agent(*nodes_[index], node_name(index)); }

void World::crash_agent(NodeSlot& slot, const std::string& location) {
  network_.agent_died(location);
  slot.agent.reset();
  slot.health.reset();
  slot.keeper.reset();
  slot.peers.reset();
  slot.link.reset();
  slot.host.reset();
  slot.loop.reset();
}

namespace {
std::string location_of_impostor(const std::string& name) { return "impostor of " + name; }
}  // namespace

void World::start_impostor(int index) {
  CHECK(!impostor_runs(index));
  NodeFacts facts = node(index).facts();
  const int number = ++impostors_made_;
  facts.instance = fmt::format("disk of impostor {}", number);
  facts.machine = fmt::format("machine of impostor {}", number);
  facts.boot_id = "boot";
  facts.address = fmt::format("10.9.0.{}", number);
  std::unique_ptr<NodeSlot>& slot = impostors_[index] = make_slot(facts);
  // Later: who asks for it is part of what then ends.
  slot->node->hardware().reboot = [this, index] {
    world_loop_.post([this, index] {
      if (impostor_runs(index)) stop_impostor(index);
    });
  };
  start_agent(*slot, location_of_impostor(facts.name));
}

void World::stop_impostor(int index) {
  NodeSlot& slot = *impostors_.at(index);
  crash_agent(slot, location_of_impostor(node_name(index)));
  slot.node->crash();
  impostors_.erase(index);
}

void World::pause_agent(int index, Duration duration) {
  if (agent_runs(index)) nodes_[index]->loop->pause(duration);
}

void World::crash_node(int index) {
  if (agent_runs(index)) crash_agent(index);
  nodes_[index]->node->crash();
}

// As the site's hook does it.
void World::reboot(int index) {
  constexpr Duration kTakes = 20s;
  crash_node(index);
  world_loop_.call_after(kTakes, [this, index] {
    if (!agent_runs(index)) start_agent(index);
  });
}

bool World::has_unknowable_loss() {
  const Controller* leads = leader();
  if (database_.has_forgotten_nodes()) return true;
  return database_.times_gone_back() > losses_noticed_ &&
         (leads == nullptr || leads->knows_history());
}

void World::durable(const std::vector<Event>& events, const ClusterState& state) {
  if (!has_unknowable_loss()) losses_noticed_ = database_.times_gone_back();
  for (const Event& event : events) digest_ = hai::digest(digest_, event);
  events_seen_ += static_cast<int64_t>(events.size());
  checkers_.check_state(events, state);
  if (on_durable) on_durable(events, state);
}

}  // namespace hai
