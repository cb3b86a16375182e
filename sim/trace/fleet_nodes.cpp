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
    Run& run = *find_run(key);
    stop_working(run);
    // The others of the gang hang until they are killed.
    if (run.phase != Phase::killing) {
      run.phase = Phase::stalled;
      loop_.cancel(std::exchange(run.timer, 0));
    }
    RankRef& rank = *std::ranges::find(run.ranks, key.rank, &RankRef::rank);
    end_rank(key.job, run, rank, ExitCause::lost, "its node is down");
    close_run_if_gone(key.job);
  }
  return true;
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
    NodeSlot& slot = nodes_[node];
    slot.is_dirty = slot.has_forgotten = false;
    controller_->agent_report(
        ConnectionId{node + 1},
        {.node = cluster_.nodes[node].name, .sequence = ++slot.sequence, .ranks = slot.ranks});
  }
}

}  // namespace hai
