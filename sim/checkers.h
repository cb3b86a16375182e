#pragma once
// Ground truth against promises. Each checker looks at what really happened on the simulated hosts
// and in the store, never at the server's opinion alone; the first violation ends the run.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/control/controller.h"
#include "server/store/mem_store.h"
#include "sim/sim_node.h"

namespace hai {

class Checkers final : public ProcessWatcher {
 public:
  // capacity: no GPU under two processes. single run: at most one live process per rank of a job,
  // and the ranks alive are all of one attempt.
  void process_started(const std::string& node, const LaunchRank& order) override;
  void process_ended(const std::string& node, const RankStatus& status) override;

  // gang, quota and index invariants of a live state; explain: every waiting job has a reason once
  // a pass has run.
  void check_state(const ClusterState& state);
  // ledger: events replayed from zero = stored rows. fence: epochs in the log only grow, and each
  // event was written in the epoch that led. purpose: a victim left only for a beneficiary that
  // then started, ended or gave up.
  void check_log(const MemDatabase& database);
  // ledger, live part: call when no append is in flight.
  void check_live(const ClusterState& live, const MemDatabase& database);

  void fail(const std::string& what) {
    if (!violation_) violation_ = what;
  }
  const std::optional<std::string>& violation() const { return violation_; }
  int64_t processes_started() const { return processes_started_; }
  size_t live_processes() const { return live_.size(); }

 private:
  struct Live {
    std::string node;
    GpuSet gpus;
  };
  std::map<RankKey, Live> live_;
  std::optional<std::string> violation_;
  int64_t processes_started_ = 0;
};

// What a store would give back for this state: everything unfinished.
StoredState stored_state_of(const ClusterState& state);

}  // namespace hai
