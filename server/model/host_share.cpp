#include "server/model/host_share.h"

#include <algorithm>

namespace hai {
namespace {

int64_t parts_of_one(const NodeFacts& facts) { return std::max(1, facts.gpus); }

// What a rank without GPUs is given if it asks for no memory.
int64_t memory_of_cpus(const NodeFacts& facts, int cpus) {
  return facts.cpus == 0 ? 0 : facts.memory_bytes / facts.cpus * std::min(cpus, facts.cpus);
}

}  // namespace

HostAsk host_ask(const JobSpec& spec) {
  HostAsk ask{spec.cpus_per_node, spec.memory_per_node_bytes};
  if (!spec.asks_gpus()) ask.cpus = std::max(1, ask.cpus);
  return ask;
}

HostParts host_total(const NodeFacts& facts) {
  return {facts.cpus * parts_of_one(facts), facts.memory_bytes * parts_of_one(facts)};
}

HostParts host_of_gpus(const NodeFacts& facts, int gpus) {
  return {int64_t{facts.cpus} * gpus, facts.memory_bytes * gpus};
}

HostParts host_excess(const NodeFacts& facts, int gpus, HostAsk ask) {
  if (gpus > 0 && (gpus == facts.gpus || ask == HostAsk{})) return {};
  const int64_t one = parts_of_one(facts);
  const HostParts proportion = host_of_gpus(facts, gpus);
  HostParts excess;
  if (facts.cpus > 0 && ask.cpus > 0) excess.cpus = ask.cpus * one - proportion.cpus;
  if (facts.memory_bytes > 0) {
    int64_t bytes = ask.memory_bytes;
    if (bytes == 0 && gpus == 0) bytes = memory_of_cpus(facts, ask.cpus);
    if (bytes > 0) excess.memory = bytes * one - proportion.memory;
  }
  return excess;
}

bool has_host(const NodeFacts& facts, int gpus_asked, HostAsk ask) {
  if (gpus_asked == kNoGpus && facts.cpus == 0) return false;
  if (facts.cpus > 0 && ask.cpus > facts.cpus) return false;
  return facts.memory_bytes == 0 || ask.memory_bytes <= facts.memory_bytes;
}

HostAmounts host_amounts(const NodeFacts& facts, HostParts parts) {
  const int64_t one = parts_of_one(facts);
  return {static_cast<int>(parts.cpus / one), parts.memory / one};
}

}  // namespace hai
