#pragma once
// Ground truth against promises. Each checker looks at what really happened on the simulated hosts
// and in the store, never at the server's opinion alone; the first violation ends the run.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "server/control/engine/controller.h"
#include "server/store/mem_store.h"
#include "sim/sim_node.h"

namespace hai {

class Checkers final : public ProcessWatcher {
 public:
  // capacity: no GPU under two processes. single run: at most one live process per rank of a job,
  // and the ranks alive are all of one attempt. fence: nothing starts after the lease.
  void process_started(const std::string& node, const LaunchRank& order,
                       Duration lease_left) override;
  void process_ended(const std::string& node, const RankStatus& status) override;

  // index, gang and capacity invariants of a live state; cross-zone: at most one job crosses, with
  // one pair of neighbouring ranks; quota: whoever was placed by these events had room; fence: a
  // node is given up only when nothing is alive on it; early release: no rank keeps a place that
  // its job wants given back; incident: at most one mass loss is open.
  int check_every =
      1;  // so many calls all of the state is looked at; at what the events name always
  void check_state(const std::vector<Event>& events, const ClusterState& state);
  // explain: a job that has waited since the last call has a reason, and it is a true one.
  void check_explained(const ClusterState& state, const SoftFacts& soft);
  // needless kill: told why, if a rank that has just been fenced on the node need not have been.
  std::function<std::optional<std::string>(const std::string& node)> judge_fenced;
  void explain_anew() { unexplained_.clear(); }  // another leader
  // fence: a server speaks only for the term that leads.
  void check_order(const AgentOrder& order, const MemDatabase& database);
  // ledger: events replayed from zero = stored rows. fence: epochs in the log only grow. purpose: a
  // victim leaves only for a beneficiary that may interrupt it, whose nodes it stands on, and that
  // then started, ended or gave up. gang: running means that every rank has run. once: one request,
  // one job. stop: whoever was to stop never starts again. needless kill: whoever is killed was to
  // leave or to end. array limit: no more of an array's tasks run than may.
  void check_log(const MemDatabase& database, const Knobs& knobs);
  // ledger, live part: call when no append is in flight.
  void check_live(const ClusterState& live, const MemDatabase& database);

  void fail(const std::string& what) {
    if (!violation_) violation_ = what;
  }
  const std::optional<std::string>& violation() const { return violation_; }
  int64_t processes_started() const { return processes_started_; }
  int64_t processes_fenced() const { return processes_fenced_; }
  size_t live_processes() const { return live_.size(); }

 private:
  void check_crossings(const ClusterState& state);
  void check_released(const ClusterState& state);
  void check_down(const ClusterState& state, const Event& event);
  void check_kept(const ClusterState& state, const Event& event);

  struct Live {
    std::string node;
    GpuSet gpus;
  };
  std::map<RankKey, Live> live_;
  std::set<std::pair<JobId, int>> unexplained_;  // with the number of attempts so far
  std::optional<std::string> violation_;
  int64_t states_checked_ = 0;
  int64_t processes_started_ = 0;
  int64_t processes_fenced_ = 0;
};

// What a store would give back for this state: everything unfinished.
StoredState stored_state_of(const ClusterState& state);

}  // namespace hai
