#include "server/control/health/decide_launches.h"

#include <fmt/core.h>

#include <algorithm>

#include "server/control/attempt/attribution.h"
#include "server/control/health/decide_health.h"

namespace hai {
namespace {

constexpr size_t kLaunchShare = 20;  // a twentieth of the nodes

// One person may have something that fits only some nodes.
std::string launch_trouble(const Node& node, UnixTime now) {
  const Witnesses there = witnesses_of(node, MarkKind::launch_failed, now);
  if (!there.suffice()) return "";
  return fmt::format("{} jobs of {} people could not start there, and did elsewhere", there.jobs,
                     there.people);
}

}  // namespace

void decide_launches(Decision& decision) {
  std::vector<std::pair<NodeId, std::string>> troubled;
  size_t out = 0;  // for whatever reason
  for (const auto& [id, node] : decision.state().nodes()) {
    out += node.health.repair.step != RepairStep::none ? 1 : 0;
    if (node.health.marks.empty()) continue;
    if (node.scheduling != Scheduling::open || node.removed_at) continue;
    if (node.health.repair.step != RepairStep::none) continue;
    if (std::string why = launch_trouble(node, decision.now()); !why.empty()) {
      troubled.emplace_back(id, std::move(why));
    }
  }
  // So few, because it may still be the doing of those who submitted (docs/design/0007).
  const size_t may_leave = std::max<size_t>(1, decision.state().present_nodes() / kLaunchShare);
  troubled.resize(std::min(troubled.size(), may_leave - std::min(may_leave, out)));
  for (const auto& [id, why] : troubled) {
    note_node_incident(decision, id, why);
    begin_repair(decision, id, false, why);
  }
}

}  // namespace hai
