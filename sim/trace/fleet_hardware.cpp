// Fleet, the part about machines: their checks and hooks, validations, crashes.

#include <algorithm>

#include "common/check.h"
#include "sim/trace/fleet.h"

namespace hai {

void Fleet::checks_changed(int node) {
  nodes_[node].has_news = true;
  mark(node);
}

void Fleet::on(int node, const RunHook& order) {
  if (options_.machines != nullptr) options_.machines->run_hook(node, order);
}

void Fleet::on(int node, const ClearFault& order) {
  if (options_.machines != nullptr) options_.machines->clear_fault(node, order);
}

void Fleet::crash_node(int node) {
  NodeSlot& slot = nodes_[node];
  if (!slot.is_connected) return;
  break_node(node);
  slot.is_connected = false;
  controller_->agent_disconnected(slot.connection);
}

void Fleet::boot_node(int node, const std::string& boot_id) {
  NodeSlot& slot = nodes_[node];
  if (slot.is_connected) return;
  repair_node(node);
  slot.is_connected = true;
  slot.boot_id = boot_id;
  slot.connection = ConnectionId{slot.connection.value + std::ssize(nodes_)};
  slot.sequence = slot.granted = 0;
  NodeFacts facts = cluster_.nodes[node];
  facts.boot_id = boot_id;
  controller_->agent_connected(slot.connection, facts.name);
  report_all(node, std::move(facts));
}

void Fleet::fail_programs(int node, GpuSet gpus, int exit_code) {
  std::vector<RankKey> keys;
  for (const RankStatus& status : nodes_[node].ranks) {
    if (status.phase == RankPhase::running) keys.push_back(status.key);
  }
  for (const RankKey& key : keys) {
    Run* run = find_run(key);
    if (run == nullptr || run->phase == Phase::killing) continue;
    RankRef& rank = *std::ranges::find(run->ranks, key.rank, &RankRef::rank);
    if (!gpus.is_empty() && (gpus & rank.gpus).is_empty()) continue;
    stall(*run);
    end_rank(key.job, *run, rank, ExitCause::program, "", exit_code);
    close_run_if_gone(key.job);
  }
}

std::vector<int> Fleet::jobs_on(int node, GpuSet gpus) const {
  std::vector<int> jobs;
  for (const RankStatus& status : nodes_[node].ranks) {
    auto run = runs_.find(status.key.job);
    if (run == runs_.end() || run->second.attempt != status.key.attempt) continue;
    const auto& ranks = run->second.ranks;
    auto rank = std::ranges::find(ranks, status.key.rank, &RankRef::rank);
    if (rank == ranks.end() || !rank->is_live) continue;
    if (gpus.is_empty() || !(gpus & rank->gpus).is_empty()) jobs.push_back(run->second.job);
  }
  return jobs;
}

Duration Fleet::work_done(int job) const {
  for (const auto& [id, run] : runs_) {
    if (run.job != job) continue;
    if (!run.works_from) return run.safe;
    return run.done + std::max(Duration{0}, loop_.now() - *run.works_from);
  }
  return progress_[job].safe;
}

// ---- validations

void Fleet::begin_validation(int node, const RankKey& key) {
  CHECK(options_.machines != nullptr);
  RankStatus& status = *find_status(node, key);
  status.phase = RankPhase::running;
  status.started_at = loop_.wall_now();
  ValidationSlot& slot = validations_[key];
  slot.node = node;
  slot.run = options_.machines->validate(node);
  slot.timer =
      loop_.call_after(slot.run.takes, [this, key] { validation_ended(key, ExitCause::program); });
  mark(node);
}

// True if it is a validation, which then ends.
bool Fleet::end_validation(const RankKey& key, ExitCause cause, Duration after) {
  auto found = validations_.find(key);
  if (found == validations_.end()) return false;
  loop_.cancel(found->second.timer);
  found->second.timer =
      loop_.call_after(after, [this, key, cause] { validation_ended(key, cause); });
  return true;
}

void Fleet::validation_ended(const RankKey& key, ExitCause cause) {
  ValidationSlot slot = std::move(validations_.extract(key).mapped());
  RankStatus& status = *find_status(slot.node, key);
  const bool is_its_own = cause == ExitCause::program;
  status.phase = RankPhase::exited;
  status.cause = cause;
  status.exit_code = is_its_own ? slot.run.exit_code : 137;
  if (is_its_own) status.measurements = std::move(slot.run.measurements);
  status.ended_at = loop_.wall_now();
  mark(slot.node);
}

}  // namespace hai
