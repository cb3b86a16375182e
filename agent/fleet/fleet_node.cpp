#include "agent/fleet/fleet_node.h"

#include <fmt/core.h>

#include "agent/fleet/muted_link.h"

namespace hai {

namespace {

// A node's ranks end with its process, and so may what its agent knows.
class NoRecord final : public AgentRecordKeeper {
 public:
  std::optional<AgentRecord> load() override { return {}; }
  Status save(const AgentRecord&) override { return ok(); }
};

}  // namespace

struct FleetNode::Life {
  Life(FleetNode& node, NodeFacts facts)
      : ranks(node.loop_, node.habit_, node.options_.rank_length),
        connection(node.loop_, ranks, node.options_.link),
        link(connection, node.is_silent_),
        peer(node.peers_, facts.name, node.is_silent_),
        agent(node.loop_, {ranks, link, peer, keeper}, std::move(facts)) {}

  TimerRanks ranks;
  GrpcServerLink connection;
  MutedLink link;
  FleetPeer peer;
  NoRecord keeper;
  Agent agent;
};

FleetNode::FleetNode(Loop& loop, FleetPeers& peers, FleetNodeOptions options)
    : loop_(loop), peers_(peers), options_(std::move(options)) {}

FleetNode::~FleetNode() = default;

void FleetNode::start() {
  if (life_) return;
  NodeFacts facts = options_.facts;
  facts.boot_id = fmt::format("{}-{}", options_.facts.boot_id, ++boots_);
  life_ = std::make_unique<Life>(*this, std::move(facts));
  life_->agent.start();
}

void FleetNode::kill() { life_.reset(); }

size_t FleetNode::ranks() const { return life_ ? life_->ranks.living() : 0; }

}  // namespace hai
