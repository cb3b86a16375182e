#include "agent/fleet/fleet_node.h"

#include <fmt/core.h>

#include "agent/fleet/muted_link.h"

namespace hai {

namespace {

constexpr Duration kBootLength = 1s;

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
        health(node.loop_, node.faults_, [&node] { node.reboot(); }),
        agent(node.loop_, {ranks, link, peer, keeper, &health}, std::move(facts)) {}

  TimerRanks ranks;
  GrpcServerLink connection;
  MutedLink link;
  FleetPeer peer;
  NoRecord keeper;
  FleetHealth health;
  Agent agent;
};

FleetNode::FleetNode(Loop& loop, FleetPeers& peers, FleetNodeOptions options)
    : loop_(loop), peers_(peers), options_(std::move(options)) {}

FleetNode::~FleetNode() { loop_.cancel(boot_timer_); }

void FleetNode::start() {
  loop_.cancel(std::exchange(boot_timer_, 0));
  if (life_) return;
  NodeFacts facts = options_.facts;
  facts.boot_id = fmt::format("{}-{}", options_.facts.boot_id, ++boots_);
  life_ = std::make_unique<Life>(*this, std::move(facts));
  life_->agent.start();
}

void FleetNode::kill() {
  loop_.cancel(std::exchange(boot_timer_, 0));
  life_.reset();
}

// Posted: what asks for it is part of the life that ends.
void FleetNode::reboot() {
  boot_timer_ = loop_.call_after(Duration(0), [this] {
    kill();
    boot_timer_ = loop_.call_after(kBootLength, [this] {
      boot_timer_ = 0;
      start();
    });
  });
}

size_t FleetNode::ranks() const { return life_ ? life_->ranks.living() : 0; }

}  // namespace hai
