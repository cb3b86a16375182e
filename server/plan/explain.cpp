#include "server/plan/explain.h"

#include <fmt/core.h>

#include <algorithm>

namespace hai {

std::string host_text(const HostAsk& ask) {
  std::string text;
  if (ask.cpus > 0) text = fmt::format("{} CPU{}", ask.cpus, ask.cpus == 1 ? "" : "s");
  if (ask.memory_bytes > 0) {
    text += fmt::format("{}{:.1f} GiB of memory", text.empty() ? "" : " and ",
                        static_cast<double>(ask.memory_bytes) / (1 << 30));
  }
  return text;
}

PendingReason preempting_reason(size_t nodes, size_t jobs) {
  return {PendingCode::preempting,
          fmt::format("{} node{} held for it; waits for {} job{} to save and leave", nodes,
                      nodes == 1 ? " is" : "s are", jobs, jobs == 1 ? "" : "s")};
}

PendingReason checkpoint_reason(size_t jobs, UnixTime until) {
  return {
      PendingCode::resources,
      fmt::format("{} job{} can make room for it, and will be asked to right after a checkpoint "
                  "due at {}",
                  jobs, jobs == 1 ? "" : "s", format_rfc3339(until))};
}

namespace {

std::string_view plural(int count) { return count == 1 ? "" : "s"; }

std::string size_text(const Demand& demand) {
  const std::string host = host_text(demand.ask);
  if (!demand.asks_gpus()) return fmt::format("node{} with {} free", plural(demand.nodes), host);
  std::string text = demand.gpus == 0
                         ? fmt::format("whole node{}", plural(demand.nodes))
                         : fmt::format("node{} with {} free GPU{}", plural(demand.nodes),
                                       demand.gpus, plural(demand.gpus));
  if (!host.empty()) text += (demand.gpus == 0 ? " with " : " and ") + host;
  return text;
}

// What is short on nodes whose GPUs would do.
struct Shortage {
  bool of_gpus = true;  // GPUs are asked for, too
  int cpus = 0;         // nodes
  int memory = 0;

  void look_at(const Slot& slot, const Demand& demand) {
    const NodeFacts& facts = slot.node->facts;
    const bool has_gpus = !demand.asks_gpus() || best_fit(*slot.node, slot.free, demand.gpus).fits;
    if (!slot.usable || !has_gpus || !demand.size().takes(facts)) return;
    if (best_fit(slot, demand.size()).fits) return;
    const HostParts needed = host_need(facts, demand.size());
    const HostParts left = host_left(slot);
    cpus += needed.cpus > left.cpus || (facts.cpus > 0 && demand.ask.cpus > facts.cpus);
    memory += needed.memory > left.memory ||
              (facts.memory_bytes > 0 && demand.ask.memory_bytes > facts.memory_bytes);
  }
  std::string text() const {
    if (cpus == 0 && memory == 0) return "";
    std::string nodes;
    if (cpus > 0) nodes = fmt::format("CPUs are short on {}", cpus);
    if (memory > 0) {
      nodes += fmt::format("{}memory is short on {}", nodes.empty() ? "" : ", ", memory);
    }
    return "; " + nodes + (of_gpus ? " whose GPUs would do" : "");
  }
};

}  // namespace

PendingReason resources_reason(const Capacity& capacity, const Demand& demand) {
  const RankSize size = demand.size();
  int usable = 0;
  int fitting = 0;
  int most = 0;
  Shortage shortage{.of_gpus = demand.asks_gpus()};
  for (int zone : zones_of(capacity, demand)) {
    const Domain& part = capacity.domains()[zone];
    for (int index = part.first_slot; index < part.end_slot; ++index) {
      const Slot& slot = capacity.slots()[index];
      const int gpus = slot.node->facts.gpus;
      if (!size.takes(slot.node->facts)) continue;
      usable += slot.usable && (!demand.asks_gpus() || (gpus > 0 && gpus >= demand.gpus));
      if (!slot.is_even || !size.is_plain()) shortage.look_at(slot, demand);
    }
    const int count = capacity.fit_count(zone, size);
    fitting += count;
    most = std::max(most, count);
  }
  std::string where = demand.zone.empty() ? demand.group : demand.group + "#" + demand.zone;
  if (demand.filter != nullptr) where += fmt::format(" ({})", filter_text(*demand.filter));
  PendingReason reason{
      PendingCode::resources,
      fmt::format("needs {} {} in {}; {} of {} open node{} can give that now", demand.nodes,
                  size_text(demand), where, fitting, usable, plural(usable))};
  if (fitting < demand.nodes) {
    reason.text += shortage.text();
    return reason;
  }
  if (most < demand.nodes) {
    reason.text += fmt::format(", at most {} in one zone", most);
  } else if (demand.max_leaves > 0) {
    reason.text += fmt::format(", but not within {} lea{}", demand.max_leaves,
                               demand.max_leaves == 1 ? "f" : "ves");
  }
  return reason;
}

}  // namespace hai
