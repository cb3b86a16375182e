// Fleet, the part about nodes: what each would report, and outages.

#include <algorithm>

#include "sim/trace/fleet.h"

namespace hai {

RankStatus* Fleet::find_status(int node, const RankKey& key) {
  auto found = std::ranges::find(nodes_[node].ranks, key, &RankStatus::key);
  return found == nodes_[node].ranks.end() ? nullptr : &*found;
}

RankStatus& Fleet::add_status(int node, const RankKey& key) {
  std::vector<RankStatus>& ranks = nodes_[node].ranks;
  auto place = std::ranges::lower_bound(ranks, key, {}, &RankStatus::key);
  return *ranks.insert(place, RankStatus{.key = key});
}

bool Fleet::break_node(int node) {
  if (++nodes_[node].outages > 1) return false;
  std::vector<RankKey> keys;
  for (const RankStatus& status : nodes_[node].ranks) {
    if (status.phase != RankPhase::exited) keys.push_back(status.key);
  }
  for (const RankKey& key : keys) {
    if (end_validation(key, ExitCause::lost, Duration{0})) continue;
    Run& run = *find_run(key);
    stall(run);
    RankRef& rank = *std::ranges::find(run.ranks, key.rank, &RankRef::rank);
    end_rank(key.job, run, rank, ExitCause::lost, "its node is down");
    close_run_if_gone(key.job);
  }
  return true;
}

// The others of the gang hang until they are killed.
void Fleet::stall(Run& run) {
  stop_working(run);
  if (run.phase == Phase::killing) return;
  run.phase = Phase::stalled;
  loop_.cancel(std::exchange(run.timer, 0));
}

bool Fleet::repair_node(int node) { return --nodes_[node].outages == 0; }

void Fleet::mark(int node) {
  if (nodes_[node].is_dirty) return;
  nodes_[node].is_dirty = true;
  dirty_.push_back(node);
  if (flush_posted_) return;
  flush_posted_ = true;
  loop_.post([this] { flush(); });
}

void Fleet::flush() {
  flush_posted_ = false;
  for (int node : std::exchange(dirty_, {})) {
    nodes_[node].is_dirty = false;
    if (nodes_[node].is_connected) report_all(node, std::nullopt);
  }
}

void Fleet::report_all(int node, std::optional<NodeFacts> facts) {
  NodeSlot& slot = nodes_[node];
  const bool tells_checks = options_.machines != nullptr && (facts || slot.has_news);
  AgentReport report{.node = cluster_.nodes[node].name, .sequence = ++slot.sequence};
  report.facts = std::move(facts);
  report.granted_sequence = slot.granted;
  report.ranks = slot.ranks;
  if (tells_checks) report.checks = options_.machines->checks(node);
  if (options_.machines != nullptr) report.hook = options_.machines->hook(node);
  slot.has_forgotten = slot.has_news = false;
  controller_->agent_report(slot.connection, std::move(report));
}

}  // namespace hai
