#include "server/model/node.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace hai {

namespace {

void put_position(NodeFacts& facts, const NodePosition& position) {
  facts.group = position.group;
  facts.zone = position.zone;
  facts.leaf = position.leaf;
  facts.labels = position.labels;
}

}  // namespace

NodePosition position_of(const NodeFacts& facts) {
  return {facts.group, facts.zone, facts.leaf, facts.labels};
}

NodePosition settled(const NodePosition& told, const NodeSettings& settings) {
  return {settings.group.value_or(told.group), settings.zone.value_or(told.zone),
          settings.leaf.value_or(told.leaf), settings.labels.value_or(told.labels)};
}

std::string NodeSettings::text() const {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view what, const std::string& value) {
    parts.push_back(fmt::format("{} {}", what, value.empty() ? "none" : value));
  };
  if (group) add("group", *group);
  if (zone) add("zone", *zone);
  if (leaf) add("leaf", *leaf);
  if (labels) {
    add(labels->size() == 1 ? "label" : "labels", fmt::format("{}", fmt::join(*labels, " and ")));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

NodeFacts Node::told_facts() const {
  NodeFacts told_by_agent = facts;
  if (!told.group.empty()) put_position(told_by_agent, told);
  return told_by_agent;
}

void Node::take_facts(const NodeFacts& told_facts) {
  facts = told_facts;
  told = position_of(told_facts);
  put_position(facts, settled(told, set));
}

void Node::take_settings(const NodeSettings& settings) {
  const NodeFacts told_by_agent = told_facts();
  set = settings;
  take_facts(told_by_agent);
}

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
