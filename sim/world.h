#pragma once
// A whole cluster in one process: two servers on one store, agents, nodes, network, on one
// timeline. Controller and agent core are the production code; everything below their ports is
// simulated.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/core/agent.h"
#include "server/control/engine/controller.h"
#include "server/model/digest.h"
#include "server/store/mem_store.h"
#include "sim/checkers.h"
#include "sim/needless_kills.h"
#include "sim/sim_network.h"
#include "sim/sim_node.h"
#include "sim/virtual_loop.h"

namespace hai {

struct WorldOptions {
  uint64_t seed = 1;
  int nodes = 5;
  int gpus = 8;
  int leaves = 2;
  bool store_goes_back = false;  // keeps what that takes
  bool asks_for_host = false;    // jobs ask for CPUs and memory, and some for no GPUs
  int servers = 2;
  int check_every =
      1;  // so many appends and passes: what looks at the whole state costs by its size
  int64_t drift_ppm_max = 0;  // of each machine's monotonic clock
  Knobs knobs;
  std::vector<NodeFacts> facts;          // the nodes; empty = as many as `nodes` says, alike
  std::function<void(Dice&)> plan_dice;  // before the first draw
};

class World final : public EventSink {
 public:
  static constexpr size_t kPastKept = 50;
  explicit World(const WorldOptions& options);
  ~World() override;

  Timeline& timeline() { return timeline_; }
  const Timeline& timeline() const { return timeline_; }
  Rng& rng() { return rng_; }
  Dice& dice() { return dice_; }
  bool store_goes_back() const { return options_.store_goes_back; }
  bool asks_for_host() const { return options_.asks_for_host; }
  const Knobs& knobs() const { return options_.knobs; }
  SimNetwork& network() { return network_; }
  const SimNetwork& network() const { return network_; }
  MemDatabase& database() { return database_; }
  Checkers& checkers() { return checkers_; }
  int node_count() const { return static_cast<int>(nodes_.size()); }
  int server_count() const { return static_cast<int>(servers_.size()); }
  SimNode& node(int index) { return *nodes_[index]->node; }
  const SimNode& node(int index) const { return *nodes_[index]->node; }
  const std::string& node_name(int index) const { return nodes_[index]->node->facts().name; }
  int index_of(const std::string& node_name) const;  // -1 if there is none
  bool agent_runs(int index) const { return nodes_[index]->agent != nullptr; }
  bool server_runs(int index) const { return servers_[index].controller != nullptr; }
  static std::string server_name(int index) { return "server-" + std::to_string(index + 1); }
  const Controller* server(int index) const { return servers_[index].controller.get(); }
  // The leading, unpaused server; null if there is none.
  Controller* leader();

  void start_server(int index);
  void crash_server(int index);
  void pause_server(int index, Duration duration);
  void start_agent(int index);
  void crash_agent(int index);
  void pause_agent(int index, Duration duration);  // its shims go on
  void crash_node(int index);
  // A second agent under the node's name, on a machine of its own, with a data directory and GPUs
  // of its own: a copied config. Nothing it has survives its end.
  void start_impostor(int index);
  void stop_impostor(int index);
  bool impostor_runs(int index) const { return impostors_.contains(index); }
  bool agent_is_paused(int index) const { return nodes_[index]->loop->is_paused(); }
  const Agent& agent(int index) const { return *nodes_[index]->agent; }
  const Loop& agent_loop(int index) const { return *nodes_[index]->loop; }
  // Wall clocks, of servers first and then of nodes.
  int machine_count() const { return server_count() + node_count(); }
  void set_wall_skew(int machine, Duration skew);

  // Told of what became durable, after the checkers.
  std::function<void(const std::vector<Event>&, const ClusterState&)> on_durable;
  // Called with durable events of every server, in the order they became durable.
  void durable(const std::vector<Event>& events, const ClusterState& state) override;
  // The store has gone back, and either it has not as far as the leader knows, because no server
  // and no agent in contact with it remembers what is gone, or the store has forgotten half of the
  // nodes.
  bool has_unknowable_loss();
  uint64_t digest() const { return digest_; }
  int64_t events_seen() const { return events_seen_; }

 private:
  struct NodeSlot;
  MachineClock random_clock(const std::string& machine);
  void reboot(int index);
  void watch();
  std::unique_ptr<NodeSlot> make_slot(const NodeFacts& facts);
  void start_agent(NodeSlot& slot, const std::string& location);
  void crash_agent(NodeSlot& slot, const std::string& location);

  struct Server {
    MachineClock clock;
    std::unique_ptr<VirtualLoop> loop;
    std::unique_ptr<MemStore> store;
    std::unique_ptr<SimAgentPort> agents;
    std::unique_ptr<Controller> controller;
    int starts = 0;
  };
  struct NodeSlot {
    MachineClock clock;
    std::unique_ptr<SimNode> node;
    std::unique_ptr<VirtualLoop> loop;
    std::unique_ptr<SimHost> host;
    std::unique_ptr<SimLink> link;
    std::unique_ptr<SimPeers> peers;
    std::unique_ptr<SimRecordKeeper> keeper;
    std::unique_ptr<SimHealth> health;
    std::unique_ptr<Agent> agent;
  };

  const WorldOptions options_;
  Timeline timeline_;
  Dice dice_;
  VirtualLoop world_loop_;
  Rng rng_;
  MemDatabase database_;
  SimNetwork network_;
  Checkers checkers_;
  std::vector<Server> servers_;
  std::vector<std::unique_ptr<NodeSlot>> nodes_;
  std::map<int, std::unique_ptr<NodeSlot>> impostors_;  // by the node whose name they bear
  int impostors_made_ = 0;
  std::map<std::string, int> index_of_;
  NeedlessKills needless_kills_{*this};
  uint64_t digest_ = kDigestStart;
  int64_t events_seen_ = 0;
  int64_t losses_noticed_ = 0;  // of database_.times_gone_back()
};

}  // namespace hai
