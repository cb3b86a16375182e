#include "server/control/health/decide_launches.h"

#include <fmt/core.h>

#include <set>

#include "server/control/health/decide_health.h"

namespace hai {
namespace {

constexpr Duration kLaunchWindow = 1h;
constexpr size_t kJobsNeeded = 3;
constexpr size_t kPeopleNeeded = 2;  // one may have something that fits only some nodes

// Since it was last judged by a validation.
std::string launch_trouble(const Node& node, UnixTime now) {
  std::set<JobId> jobs;
  std::set<std::string> people;
  for (const NodeMark& mark : node.health.marks) {
    if (mark.kind == MarkKind::accepted) jobs.clear(), people.clear();
    if (mark.kind != MarkKind::launch_failed) continue;
    if (now - mark.at > kLaunchWindow || mark.at <= node.health.judged_at) continue;
    jobs.insert(mark.job);
    people.insert(mark.user);
  }
  if (jobs.size() < kJobsNeeded || people.size() < kPeopleNeeded) return "";
  return fmt::format("{} jobs of {} people could not start there, and did elsewhere", jobs.size(),
                     people.size());
}

}  // namespace

void decide_launches(Decision& decision) {
  std::vector<std::pair<NodeId, std::string>> troubled;
  for (const auto& [id, node] : decision.state().nodes()) {
    if (node.health.marks.size() < kJobsNeeded) continue;
    if (node.scheduling != Scheduling::open || node.removed_at) continue;
    if (node.health.repair.step != RepairStep::none) continue;
    if (std::string why = launch_trouble(node, decision.now()); !why.empty()) {
      troubled.emplace_back(id, std::move(why));
    }
  }
  for (const auto& [id, why] : troubled) {
    note_node_incident(decision, id, why);
    NodeRepair repair = decision.state().find(id)->health.repair;
    repair.step = RepairStep::emptying;
    repair.round = 0;
    repair.is_lemon = false;
    repair.reason = why;
    decision.emit(NodeRepairChanged{id, std::move(repair)});
    decision.emit(NodeSchedulingChanged{id, Scheduling::cordoned, why, std::string(kByHealth)});
  }
}

}  // namespace hai
