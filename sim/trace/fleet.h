#pragma once
// All nodes of a replay behind one AgentPort: what agents, shims and programs would do, in virtual
// time, without leases and heartbeats. All ranks of a gang do the same at the same moment, so a run
// (one attempt on the fleet) is the unit, and it costs one timer. Reports are level-triggered as an
// agent's are, and sent only when something changed; those of one moment reach the controller
// together, so that one turn takes them.
//
//   launching ─▶ working ─▶ (saving | in grace) ─▶ gone          a broken node: stalled ─▶ gone
//
// With FleetMachines it also says what their checks see, runs validations, and has nodes that fall
// silent and come back.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/control/engine/controller.h"
#include "sim/trace/cluster_file.h"
#include "sim/trace/fleet_machines.h"
#include "sim/trace/job_model.h"
#include "sim/trace/trace_file.h"
#include "sim/virtual_loop.h"

namespace hai {

struct FleetOptions {
  uint64_t seed = 1;
  double saves_when_asked = 0.5;  // share of the jobs; the others lose work at the end of grace
  Duration report_period = 1min;  // how often what can wait is reported
  // How a job saves and restarts; empty = drawn from the seed.
  std::function<JobModel(int job)> model;
  FleetMachines* machines = nullptr;
};

// One run as it was; times are per GPU.
struct RunEnded {
  int job = 0;             // index in the trace
  Duration lost{0};        // work that has to be done again
  Duration switching{0};   // saving because asked, and coming back after it
  bool was_asked = false;  // it left because it was asked to suspend
};

class Fleet final : public AgentPort {
 public:
  Fleet(Timeline& timeline, const TraceCluster& cluster, const std::vector<TraceJob>& jobs,
        FleetOptions options, std::function<void(const RunEnded&)> run_ended);

  // Every node connects and tells its facts.
  void connect(Controller& controller);
  // The node's ranks are lost; may be said twice, and is then to be repaired twice. True if this
  // changed it.
  bool break_node(int node);
  bool repair_node(int node);

  // ---- with machines
  // The node's checks or its hook say something else now.
  void checks_changed(int node);
  // Nothing of it answers any more, and its ranks are gone.
  void crash_node(int node);
  // It is up again; nothing happens if it was up.
  void boot_node(int node, const std::string& boot_id);
  bool is_connected(int node) const { return nodes_[node].is_connected; }
  // The programs that use one of these GPUs (none = any) end with this exit code; the others of
  // their gangs hang. Programs that are being ended anyway do not notice.
  void fail_programs(int node, GpuSet gpus, int exit_code);
  // Jobs of the trace with a live rank on the node, on one of these GPUs (none = any).
  std::vector<int> jobs_on(int node, GpuSet gpus) const;
  // What was done of a job so far and need not be done again if nothing breaks.
  Duration work_done(int job) const;

  void send(ConnectionId connection, const AgentOrder& order) override;
  void close(ConnectionId connection, const std::string& reason) override;

  // How long a job would take from its placement to its end if nothing interrupted it.
  Duration time_left(int job) const;
  // The name under which the job is submitted, and back.
  static std::string name_of(int job);
  static int job_of(const std::string& name);

 private:
  enum class Phase { launching, working, saving, in_grace, stalled, killing };
  struct NodeSlot {
    int64_t sequence = 0;
    int64_t granted = 0;
    std::vector<RankStatus> ranks;  // sorted by key
    int outages = 0;
    bool is_dirty = false;
    bool has_forgotten = false;  // and the server has not seen it yet
    bool has_news = false;       // of its checks
    bool is_connected = true;
    ConnectionId connection;
    std::string boot_id;
  };
  struct ValidationSlot {
    int node = 0;
    ValidationRun run;
    TimerId timer = 0;
  };
  struct RankRef {
    int node = 0;
    int rank = 0;
    GpuSet gpus;
    bool is_live = true;
  };
  struct Run {
    int job = 0;
    int attempt = 0;
    size_t size = 0;  // ranks of the gang
    std::vector<RankRef> ranks;
    JobModel model;
    Phase phase = Phase::launching;
    MonoTime launched_at{};
    MonoTime asked_at{};
    bool was_asked = false;
    TimerId timer = 0;
    // Work: so much was done and safe at `works_from`, and it goes on from then.
    std::optional<MonoTime> works_from;
    std::optional<MonoTime> first_work;
    Duration done{0};
    Duration safe{0};
    Duration switching{0};
    int64_t checkpoints_reported = 0;
    std::optional<CheckpointInfo> checkpoint;
  };
  // What a job's shared file system keeps between its runs.
  struct Progress {
    Duration safe{0};
    bool has_run = false;
    bool was_asked = false;  // its last run left because it was asked
  };

  void on(int node, const LaunchRank& order);
  void on(int node, const SuspendRank& order);
  void on(int node, const ContinueRank& order);
  void on(int node, const KillRank& order);
  void on(int node, const ForgetRank& order);
  void on(int node, const GrantLease& order) {
    nodes_[static_cast<size_t>(node)].granted = order.report_sequence;
  }
  void on(int, const NamePeers&) {}
  void on(int node, const RunHook& order);
  void on(int node, const ClearFault& order);
  void on(int, const RefuseAgent&) {}

  void begin_validation(int node, const RankKey& key);
  bool end_validation(const RankKey& key, ExitCause cause, Duration after);
  void validation_ended(const RankKey& key, ExitCause cause);
  void report_all(int node, std::optional<NodeFacts> facts);
  JobModel model_of(int job) const;
  Run* find_run(const RankKey& key);
  RankStatus* find_status(int node, const RankKey& key);
  bool keeps_away(int node, const RankKey& key);
  RankStatus& add_status(int node, const RankKey& key);
  void arm(JobId id, Run& run, Duration delay);
  void timer_fired(JobId id);
  void start_working(JobId id, Run& run);
  void arm_finish(JobId id, Run& run);
  int64_t checkpoints_since(const Run& run) const;
  // Ends the stretch of work at this moment.
  void stop_working(Run& run);
  // `change` returns whether it changed the status.
  void for_live_ranks(JobId id, Run& run, const std::function<void(RankStatus&)>& change);
  void end_ranks(JobId id, ExitCause cause);
  void end_rank(JobId id, Run& run, RankRef& rank, ExitCause cause, const std::string& message,
                int exit_code = 0);
  void stall(Run& run);
  void close_run_if_gone(JobId id);
  void note_checkpoint(Run& run);
  void gather_reports();
  void mark(int node);
  void flush();

  VirtualLoop loop_;
  const TraceCluster& cluster_;
  const std::vector<TraceJob>& jobs_;
  const FleetOptions options_;
  std::function<void(const RunEnded&)> run_ended_;
  Controller* controller_ = nullptr;
  std::vector<NodeSlot> nodes_;
  std::vector<Progress> progress_;  // by job
  std::map<JobId, Run> runs_;
  std::map<RankKey, ValidationSlot> validations_;
  std::vector<int> dirty_;
  bool flush_posted_ = false;
};

}  // namespace hai
