#include "agent/fleet/fleet.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "common/hostlist.h"
#include "common/version.h"
#include "proto/convert/agent_convert.h"

namespace hai {

namespace {

constexpr int kGpusDefault = 8;
constexpr size_t kStartAtOnce = 50;
constexpr Duration kStartPause = 50ms;

NodeFacts make_facts(const AgentConfig& config, const FleetOptions& options, int index,
                     uint64_t seed) {
  const FabricPlace place = place_in(options.shape, index, options.nodes);
  const std::string prefix = config.name.empty() ? "node" : config.name;
  NodeFacts facts;
  facts.name = numbered_node_name(prefix, index, options.nodes);
  facts.group = config.group;
  facts.zone = place.zone;
  facts.leaf = place.leaf;
  facts.labels = config.labels;
  facts.address = facts.name;
  facts.gpus = config.simulate_gpus > 0 ? config.simulate_gpus : kGpusDefault;
  facts.cpus = 128;
  facts.memory_bytes = int64_t{1} << 40;
  facts.gpu_model = "pretended";
  facts.agent_version = version();
  facts.boot_id = fmt::format("fleet-{:016x}", seed);  // another process is another boot
  facts.peer_port = 1;                                 // reached without one
  return facts;
}

// A node's own certificate is made when it first connects: as many at once as there are nodes would
// hold up the loop.
std::function<Result<TlsTexts>()> certificate_source(
    std::shared_ptr<const KeyAndCertificate> authority, const std::string& node) {
  return [authority, node, made = TlsTexts()]() mutable -> Result<TlsTexts> {
    if (!made.ca.empty()) return made;
    Result<KeyAndCertificate> own = issue_for_node(*authority, node);
    RETURN_IF_ERROR(own.status());
    made = {.certificate = std::move(own.value().certificate),
            .key = std::move(own.value().key),
            .ca = authority->certificate};
    return made;
  };
}

}  // namespace

Fleet::Fleet(Loop& loop, const AgentConfig& config, const std::string& agent_token,
             FleetOptions options, uint64_t seed)
    : loop_(loop), rng_(seed), peers_(loop) {
  auto codec = std::make_shared<PlacesCodec>();  // else each node would read a gang's places anew
  const auto authority =
      options.authority ? std::make_shared<const KeyAndCertificate>(*options.authority) : nullptr;
  for (int i = 0; i < options.nodes; ++i) {
    ServerLinkOptions link{.servers = config.servers, .agent_token = agent_token};
    NodeFacts facts = make_facts(config, options, i, seed);
    link.tls = authority ? certificate_source(authority, facts.name)
                         : [files = config.tls] { return read_tls_files(files); };
    link.node = facts.name;
    link.codec = codec;
    link.seed = seed + static_cast<uint64_t>(i);
    nodes_.push_back(std::make_unique<FleetNode>(
        loop, peers_, FleetNodeOptions{std::move(link), std::move(facts), options.rank_length}));
  }
}

Fleet::~Fleet() { loop_.cancel(start_timer_); }

void Fleet::start() { start_from(0); }

void Fleet::start_from(size_t first) {
  start_timer_ = 0;
  const size_t end = std::min(first + kStartAtOnce, nodes_.size());
  for (size_t i = first; i < end; ++i) nodes_[i]->start();
  if (end == nodes_.size()) return;
  start_timer_ = loop_.call_after(kStartPause, [this, end] { start_from(end); });
}

std::vector<FleetNode*> Fleet::choose_random(size_t count) {
  std::vector<FleetNode*> left;
  for (const auto& node : nodes_) left.push_back(node.get());
  std::vector<FleetNode*> chosen;
  while (chosen.size() < count && !left.empty()) {
    const auto at = static_cast<size_t>(rng_.below(left.size()));
    chosen.push_back(left[at]);
    left[at] = left.back();
    left.pop_back();
  }
  return chosen;
}

Result<std::vector<FleetNode*>> Fleet::select(std::string_view text) {
  std::vector<FleetNode*> chosen;
  if (text.starts_with("random:")) {
    size_t count = 0;
    const std::string_view number = text.substr(7);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), count);
    if (error != std::errc() || end != number.data() + number.size() || count == 0) {
      return invalid_argument("{}: must be random:COUNT", text);
    }
    return choose_random(count);
  }
  const bool is_zone = text.starts_with("zone:");
  if (text == "all" || is_zone || text.starts_with("leaf:")) {
    const std::string_view wanted = text == "all" ? text : text.substr(5);
    for (const auto& node : nodes_) {
      const NodeFacts& facts = node->facts();
      if (text == "all" || (is_zone ? facts.zone : facts.leaf) == wanted) {
        chosen.push_back(node.get());
      }
    }
    if (chosen.empty()) return not_found("no node in {}", text);
    return chosen;
  }
  const Result<std::vector<std::string>> names = parse_hostlist(text);
  RETURN_IF_ERROR(names.status());
  std::map<std::string_view, FleetNode*> by_name;
  for (const auto& node : nodes_) by_name.emplace(node->facts().name, node.get());
  for (const std::string& name : names.value()) {
    auto found = by_name.find(name);
    if (found == by_name.end()) return not_found("no node {} in this fleet", name);
    chosen.push_back(found->second);
  }
  if (chosen.empty())
    return invalid_argument("which nodes? all, random:N, zone:Z, leaf:L or names");
  return chosen;
}

}  // namespace hai
