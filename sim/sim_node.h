#pragma once
// The ground truth of one simulated node: its processes and what the shims keep on disk. It
// outlives agents. SimHost is the RankHost an agent process sees of it.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/core/peer_port.h"
#include "agent/core/ports.h"
#include "common/rng.h"
#include "sim/dice.h"
#include "sim/sim_health.h"
#include "sim/virtual_loop.h"

namespace hai {

// How a simulated program behaves; carried in the job's environments.
struct ProgramModel {
  Duration work{0};         // over all attempts, checkpointed work counts
  Duration period{0};       // between checkpoints; 0 = none
  Duration save{0};         // time to save when asked to suspend
  bool obeys = true;        // saves and leaves when asked
  Duration fails_after{0};  // exits 1 after so much work; 0 = never
  bool is_uneven = false;   // the last rank has least to do, and rank 0 all of `work`

  std::map<std::string, std::string> to_environment() const;
  static ProgramModel from_environment(const std::map<std::string, std::string>& environment);
};

// Told of every process start and end, for the checkers.
class ProcessWatcher {
 public:
  virtual ~ProcessWatcher() = default;
  virtual void process_started(const std::string& node, const LaunchRank& order,
                               Duration lease_left) = 0;
  virtual void process_ended(const std::string& node, const RankStatus& status) = 0;
};

class SimNode {
 public:
  SimNode(Timeline& timeline, Dice& dice, NodeFacts facts, uint64_t seed, ProcessWatcher& watcher,
          const MachineClock* clock);

  const NodeFacts& facts() const { return facts_; }
  SimHardware& hardware() { return hardware_; }
  // Power loss: every process is gone; what was on disk stays.
  void crash();
  // kill -9 of one shim, its program with it (parent-death signal).
  void crash_one_shim();
  int live_processes() const;
  // Programs work so many times as fast from now on, those that run too.
  void set_program_speed(int speed);
  double launch_failure_rate = 0;
  // At most so long until a launched program runs, and until a program that obeys has been killed.
  Duration start_max = 400ms;
  Duration kill_max = 300ms;
  // The program of a live rank ends by itself.
  void end_program(const RankKey& key, int exit_code) { end(key, ExitCause::program, exit_code); }
  // Of every rank that it has, in order of their keys: its status, and until when it may live.
  void each_rank(const std::function<void(const RankStatus&, MonoTime lease_until)>& visit) const {
    for (const auto& [key, process] : processes_) visit(process.status, process.lease_until);
  }
  // Of the shims' clock.
  std::vector<VirtualLoop::DueTimer> due() const { return loop_.due(); }
  void set_rank(int rank) { loop_.set_rank(rank); }
  void postpone(Duration slip) { loop_.postpone(slip); }
  std::optional<AgentRecord> record;  // what its agents keep while it is up
  bool record_is_writable = true;

  // The agent's side (through SimHost).
  std::vector<RankStatus> adopt();
  void launch(const LaunchRank& order, MonoTime lease_until);
  void suspend(const SuspendRank& order);
  void resume(const RankKey& key);
  void kill(const RankKey& key);
  void forget(const RankKey& key);
  void extend_leases(MonoTime until);
  std::function<void(const RankStatus&)> listener;

 private:
  struct Process {
    LaunchRank order;
    ProgramModel model;
    RankStatus status;
    Duration base_work{0};  // done before `running_since`, as its checkpoint says
    MonoTime running_since{};
    MonoTime lease_until{};
    TimerId finish_timer = 0;
    TimerId checkpoint_timer = 0;
    TimerId leave_timer = 0;  // saving, or grace
    bool was_told = false;    // by a signal, which nobody can take back
    TimerId kill_timer = 0;
    TimerId lease_timer = 0;
  };

  Process* find_live(const RankKey& key);
  void run(const RankKey& key);
  void arm_finish(Process& process);
  void checkpoint(Process& process);
  void arm_checkpoint(const RankKey& key);
  void arm_lease(const RankKey& key);
  void finish_validation(const RankKey& key);
  void end(const RankKey& key, ExitCause cause, int exit_code, const std::string& message = "");
  void tell(const RankStatus& status);
  Duration work_done(const Process& process) const;
  Duration drawn(Source source, Duration low, Duration high);

  VirtualLoop loop_;
  NodeFacts facts_;
  Dice& dice_;
  Rng rng_;
  SimHardware hardware_;
  int boots_ = 1;
  int program_speed_ = 1;
  ProcessWatcher& watcher_;
  std::map<RankKey, Process> processes_;
};

class SimRecordKeeper final : public AgentRecordKeeper {
 public:
  explicit SimRecordKeeper(SimNode& node) : node_(node) {}
  std::optional<AgentRecord> load() override { return node_.record; }
  Status save(const AgentRecord& record) override {
    if (!node_.record_is_writable) return unavailable("the record can't be written");
    node_.record = record;
    return ok();
  }

 private:
  SimNode& node_;
};

class SimHost final : public RankHost {
 public:
  SimHost(SimNode& node, Loop& agent_loop) : node_(node), loop_(agent_loop) {}
  ~SimHost() override { node_.listener = nullptr; }
  std::vector<RankStatus> adopt() override { return node_.adopt(); }
  void launch(const LaunchRank& order, MonoTime lease_until) override {
    node_.launch(order, lease_until);
  }
  void suspend(const SuspendRank& order) override { node_.suspend(order); }
  void resume(const RankKey& key) override { node_.resume(key); }
  void kill(const RankKey& key) override { node_.kill(key); }
  void forget(const RankKey& key) override { node_.forget(key); }
  void extend_leases(MonoTime until) override { node_.extend_leases(until); }
  void set_listener(Listener listener) override {
    node_.listener = [&loop = loop_, listener = std::move(listener)](const RankStatus& status) {
      loop.post([listener, status] { listener(status); });
    };
  }

 private:
  SimNode& node_;
  Loop& loop_;
};

}  // namespace hai
