#include "agent/fleet.h"

#include <fmt/core.h>

#include "agent/core/agent.h"
#include "agent/rpc/server_link.h"
#include "agent/timer_ranks.h"
#include "common/version.h"
#include "proto/convert/agent_convert.h"

namespace hai {

namespace {

constexpr int kGpusDefault = 8;

NodeFacts make_facts(const AgentConfig& config, const FleetOptions& options, int index) {
  const int leaf = index / options.nodes_per_leaf;
  const std::string prefix = config.name.empty() ? "node" : config.name;
  NodeFacts facts;
  facts.name = fmt::format("{}-{:04}", prefix, index + 1);
  facts.group = config.group;
  facts.zone = fmt::format("zone-{}", leaf / options.leaves_per_zone + 1);
  facts.leaf = fmt::format("leaf-{:03}", leaf + 1);
  facts.address = facts.name;
  facts.gpus = config.simulate_gpus > 0 ? config.simulate_gpus : kGpusDefault;
  facts.cpus = 128;
  facts.memory_bytes = int64_t{1} << 40;
  facts.gpu_model = "pretended";
  facts.agent_version = version();
  facts.boot_id = "fleet";
  facts.peer_port = 1;  // reached without one
  return facts;
}

}  // namespace

// Nodes of one process need no datagrams to ask each other.
class Fleet::Peers final : public PeerPort {
 public:
  Peers(Loop& loop, std::string node, Fleet& fleet)
      : loop_(loop), node_(std::move(node)), fleet_(fleet) {
    fleet_.peers_[node_] = this;
  }
  void start(Listener listener) override { listener_ = std::move(listener); }
  void prepare(const std::vector<Peer>&) override {}
  void ask(int64_t round, const std::vector<Peer>& peers) override {
    for (const Peer& peer : peers) {
      auto found = fleet_.peers_.find(peer.node);
      if (found == fleet_.peers_.end()) continue;
      loop_.post([this, round, asked = found->second] {
        listener_.answered(round, asked->node_, asked->listener_.asked());
      });
    }
  }

 private:
  Loop& loop_;
  const std::string node_;
  Fleet& fleet_;
  Listener listener_;
};

namespace {

// A fleet's ranks end with its process, and so may what its agents know.
class NoRecord final : public AgentRecordKeeper {
 public:
  std::optional<AgentRecord> load() override { return {}; }
  Status save(const AgentRecord&) override { return ok(); }
};

}  // namespace

struct Fleet::Member {
  Member(Loop& loop, ServerLinkOptions options, NodeFacts facts, Fleet& fleet)
      : ranks(loop),
        link(loop, ranks, std::move(options)),
        peers(loop, facts.name, fleet),
        agent(loop, {ranks, link, peers, keeper}, facts) {}

  TimerRanks ranks;
  GrpcServerLink link;
  Peers peers;
  NoRecord keeper;
  Agent agent;
};

Fleet::Fleet(Loop& loop, const AgentConfig& config, const std::string& agent_token,
             FleetOptions options, uint64_t seed) {
  auto codec = std::make_shared<PlacesCodec>();  // else each node would read a gang's places anew
  for (int i = 0; i < options.nodes; ++i) {
    NodeFacts facts = make_facts(config, options, i);
    ServerLinkOptions link{.servers = config.servers, .agent_token = agent_token};
    link.node = facts.name;
    link.codec = codec;
    link.seed = seed + static_cast<uint64_t>(i);
    members_.push_back(std::make_unique<Member>(loop, std::move(link), std::move(facts), *this));
  }
}

Fleet::~Fleet() = default;

void Fleet::start() {
  for (const auto& member : members_) member->agent.start();
}

}  // namespace hai
