#include "server/plan/explain.h"

#include <fmt/core.h>

#include <algorithm>

namespace hai {

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

PendingReason resources_reason(const Capacity& capacity, const Demand& demand) {
  int usable = 0;
  int fitting = 0;
  int most = 0;
  for (int zone : zones_of(capacity, demand)) {
    const Domain& part = capacity.domains()[zone];
    for (int index = part.first_slot; index < part.end_slot; ++index) {
      const Slot& slot = capacity.slots()[index];
      const int gpus = slot.node->facts.gpus;
      usable += slot.usable && gpus > 0 && gpus >= demand.gpus;
    }
    const int count = capacity.fit_count(zone, demand.gpus);
    fitting += count;
    most = std::max(most, count);
  }
  std::string where = demand.zone.empty() ? demand.group : demand.group + "#" + demand.zone;
  std::string what = demand.gpus == 0
                         ? fmt::format("whole node{}", demand.nodes == 1 ? "" : "s")
                         : fmt::format("node{} with {} free GPU{}", demand.nodes == 1 ? "" : "s",
                                       demand.gpus, demand.gpus == 1 ? "" : "s");
  PendingReason reason{
      PendingCode::resources,
      fmt::format("needs {} {} in {}; {} of {} open node{} can give that now", demand.nodes, what,
                  where, fitting, usable, usable == 1 ? "" : "s")};
  if (fitting < demand.nodes) return reason;
  if (most < demand.nodes) {
    reason.text += fmt::format(", at most {} in one zone", most);
  } else if (demand.max_leaves > 0) {
    reason.text += fmt::format(", but not within {} lea{}", demand.max_leaves,
                               demand.max_leaves == 1 ? "f" : "ves");
  }
  return reason;
}

}  // namespace hai
