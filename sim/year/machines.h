#pragma once
// All hardware of the year: lets it break at the rates of fault_kinds.h, and answers for it to the
// fleet's agents. Owned by the year; everything runs in virtual time on one loop.

#include <functional>
#include <string>
#include <vector>

#include "sim/trace/cluster_file.h"
#include "sim/trace/failures_file.h"
#include "sim/trace/fleet.h"
#include "sim/virtual_loop.h"
#include "sim/year/machine.h"

namespace hai {

// What the hardware did, by its own account.
struct FaultCounts {
  int64_t xid_74 = 0;
  int64_t of_programs = 0;  // Xids that are the program's own
  int64_t other = 0;        // Xids and memory errors
  int64_t crashes = 0;
  int64_t silent = 0;
  int64_t link_cuts = 0;
  int64_t leaf_outages = 0;
  int64_t outages = 0;  // of the failures file
};

class Machines final : public FleetMachines {
 public:
  // `fails`: a fault is about to end the run of this job of the trace.
  using Fails = std::function<void(int job, bool by_itself)>;
  Machines(Timeline& timeline, const TraceCluster& cluster, uint64_t seed, Fails fails);

  // Faults come from now on; those of the paper, or the outages of a file if it has any.
  void begin(Fleet& fleet, Failures failures);
  // A person has mended the node.
  void service(int node, bool is_known_lemon);

  std::vector<CheckResult> checks(int node) override;
  std::optional<HookResult> hook(int node) override { return slots_[node].hook; }
  void run_hook(int node, const RunHook& order) override;
  void clear_fault(int node, const ClearFault& order) override;
  ValidationRun validate(int node) override;

  const Machine& machine(int node) const { return slots_[node].machine; }
  // Cannot do its work now, or will soon fail again: what takes it out is right.
  bool has_cause(int node) const;
  bool is_out_by_file(int node) const { return slots_[node].is_out; }
  const FaultCounts& counts() const { return counts_; }
  int lemons() const;

 private:
  struct Slot {
    Machine machine;
    std::optional<HookResult> hook;
    int64_t hook_under_way = 0;
    int boots = 1;
    bool is_out = false;    // by the failures file
    bool is_lemon = false;  // as it was made
  };

  void arm_kind(const FaultKind& kind);
  void strike(const FaultKind& kind, int node);
  void strike_unseen_again(int node, const FaultKind& kind);
  void crash(int node, bool comes_back);
  void boot(int node);
  void arm_bursts();
  void burst();
  void cut_link(int node, Duration down, bool kills);
  void arm_leaf_outages();
  void leaf_outage();
  void next_outage();
  void begin_outage(const Outage& outage);
  void end_outage(int node);
  void fail_programs(int node, GpuSet gpus, Duration after);
  void note_runs(int node, GpuSet gpus);
  void changed(int node);
  void changed_after(int node, Duration delay);
  int draw_node();
  int draw_node_with_program();
  Duration gap(double per_year);
  Duration between(Duration low, Duration high);

  VirtualLoop loop_;
  const TraceCluster& cluster_;
  Rng rng_;
  const XidTable xids_;
  Fails fails_;
  std::vector<Slot> slots_;
  std::vector<int> draw_;  // nodes, lemons as often as their rates are higher
  Fleet* fleet_ = nullptr;
  Failures failures_;
  FaultCounts counts_;
};

}  // namespace hai
