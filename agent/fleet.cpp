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
  return facts;
}

}  // namespace

struct Fleet::Member {
  Member(Loop& loop, ServerLinkOptions options, NodeFacts facts)
      : ranks(loop), link(loop, ranks, std::move(options)), agent(loop, ranks, link, facts) {}

  TimerRanks ranks;
  GrpcServerLink link;
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
    members_.push_back(std::make_unique<Member>(loop, std::move(link), std::move(facts)));
  }
}

Fleet::~Fleet() = default;

void Fleet::start() {
  for (const auto& member : members_) member->agent.start();
}

}  // namespace hai
