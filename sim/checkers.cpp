#include "sim/checkers.h"

#include <fmt/core.h>

#include "server/model/invariants.h"

namespace hai {

void Checkers::process_started(const std::string& node, const LaunchRank& order) {
  ++processes_started_;
  for (const auto& [key, live] : live_) {
    if (live.node == node && !(live.gpus & order.gpus).is_empty()) {
      fail(fmt::format("capacity: {} starts on {} gpus {} while {} is on them",
                       to_string(order.key), node, to_string(live.gpus & order.gpus),
                       to_string(key)));
    }
    if (key.job == order.key.job && key.attempt != order.key.attempt) {
      fail(fmt::format("single run: {} starts on {} while {} is alive on {}", to_string(order.key),
                       node, to_string(key), live.node));
    }
  }
  if (live_.contains(order.key))
    fail(fmt::format("single run: {} starts twice", to_string(order.key)));
  live_[order.key] = {node, order.gpus};
}

void Checkers::process_ended(const std::string&, const RankStatus& status) {
  live_.erase(status.key);
}

void Checkers::check_state(const ClusterState& state) {
  for (const std::string& violated : violated_invariants(state)) fail("invariant: " + violated);
}

StoredState stored_state_of(const ClusterState& state) {
  StoredState stored{
      .epoch = state.epoch(), .last_seq = state.last_seq(), .last_job = state.last_job()};
  for (const auto& [id, job] : state.jobs()) {
    if (!job.is_terminal()) stored.jobs.push_back(job);
  }
  for (const auto& [id, node] : state.nodes()) {
    Node bare = node;
    bare.occupants.clear();
    bare.held.clear();
    stored.nodes.push_back(bare);
  }
  for (const auto& [name, user] : state.users()) stored.users.push_back(user);
  for (const auto& [key, quota] : state.quotas()) stored.quotas.push_back(quota);
  for (const auto& [hash, token] : state.tokens()) stored.tokens.push_back(token);
  return stored;
}

void Checkers::check_log(const MemDatabase& database) {
  ClusterState replayed;
  Epoch epoch;
  std::map<JobId, JobId>
      open_purposes;  // victim → beneficiary, until the beneficiary starts, ends or gives up
  for (const Event& event : database.events()) {
    if (auto* started = std::get_if<EpochStarted>(&event.body)) {
      if (started->epoch <= epoch)
        fail(fmt::format("fence: epoch {} begins after {}", started->epoch.value, epoch.value));
      epoch = started->epoch;
    } else if (!epoch) {
      fail("fence: an event before the first epoch");
    }
    replayed.apply(event);
    if (auto* suspending = std::get_if<AttemptSuspending>(&event.body);
        suspending != nullptr && suspending->beneficiary) {
      open_purposes[suspending->job] = suspending->beneficiary;
    }
    bool settles = std::holds_alternative<AttemptPlaced>(event.body) ||
                   std::holds_alternative<JobFinished>(event.body) ||
                   std::holds_alternative<ReservationDropped>(event.body);
    if (settles)
      std::erase_if(open_purposes,
                    [&](const auto& entry) { return entry.second == job_of(event.body); });
    if (auto* continued = std::get_if<AttemptContinued>(&event.body))
      open_purposes.erase(continued->job);
  }
  for (const auto& [victim, beneficiary] : open_purposes) {
    const Job* job = replayed.find(beneficiary);
    if (job == nullptr || !job->reservation) {
      fail(fmt::format("purpose: job {} was to leave for job {}, which never started nor gave up",
                       victim.value, beneficiary.value));
    }
  }
  for (const auto& [id, job] : database.jobs()) {
    const Job* other = replayed.find(id);
    if (other == nullptr || !(*other == job))
      fail(fmt::format("ledger: row of job {} differs from its events", id.value));
  }
  ClusterState rows(database.stored_state());
  ClusterState bare(stored_state_of(replayed));
  if (!rows.equals(bare)) fail("ledger: rows and replayed events differ");
}

void Checkers::check_live(const ClusterState& live, const MemDatabase& database) {
  ClusterState rows(database.stored_state());
  ClusterState bare(stored_state_of(live));
  if (!rows.equals(bare)) fail("ledger: live state and stored rows differ");
}

}  // namespace hai
