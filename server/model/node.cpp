#include "server/model/node.h"

#include <algorithm>

namespace hai {

GpuSet Node::used_gpus() const {
  GpuSet used;
  for (const Occupant& occupant : occupants) used = used | occupant.gpus;
  return used;
}

GpuSet Node::held_gpus() const { return held_gpus_for_others({}); }

GpuSet Node::held_gpus_for_others(JobId job) const {
  GpuSet gpus;
  for (const Held& hold : held) {
    if (!job || hold.job != job) gpus = gpus | hold.gpus;
  }
  return gpus;
}

GpuSet Node::free_gpus(JobId job) const {
  return without(all_gpus(), used_gpus() | held_gpus_for_others(job));
}

HostParts Node::used_host() const {
  HostParts used;
  for (const Occupant& occupant : occupants) {
    used += host_use(facts, occupant.gpus.count(), occupant.ask);
  }
  return used;
}

bool Node::has_host_now(GpuSet gpus, HostAsk ask, HostParts others) const {
  return (used_host() + others + host_use(facts, gpus.count(), ask)).is_within(host_total(facts));
}

bool NodePeers::asks(NodeId peer) const {
  const auto contains = [peer](const std::vector<NodeId>& list) {
    return std::ranges::find(list, peer) != list.end();
  };
  return contains(confirmed) || (named && contains(*named));
}

void NodePeers::peer_was_replaced(NodeId peer) {
  std::ranges::replace(confirmed, peer, NodeId{});
  if (named) std::ranges::replace(*named, peer, NodeId{});
}

}  // namespace hai
