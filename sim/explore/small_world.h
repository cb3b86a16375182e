#pragma once
// The cluster of a Model: production servers and agents on simulated machines, moved step by step.
// Time stands still until a step lets it pass; between steps every process has done all it can do.
// Lives in an Arena, so that the explorer can go back to any moment.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/core/agent.h"
#include "server/control/engine/controller.h"
#include "server/store/mem_store.h"
#include "sim/checkers.h"
#include "sim/explore/model.h"
#include "sim/explore/step.h"
#include "sim/explore/wire.h"
#include "sim/sim_node.h"
#include "sim/virtual_loop.h"

namespace hai {

// Hears what happens, in plain words; must outlive the world.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void happened(MonoTime at, const std::string& what) = 0;
};

class SmallWorld final : public EventSink, public ProcessWatcher {
 public:
  // Warm: a server leads, every agent is connected and its lease proven, the job runs.
  explicit SmallWorld(const Model& model, Listener* listener = nullptr);
  ~SmallWorld() override;

  // What may happen next; empty if nothing may: all has ended well.
  std::vector<Step> steps() const;
  void take(Step step);
  const std::optional<std::string>& violation() const { return checkers_.violation(); }
  // Equal for states from which the same can happen, but for the budget.
  uint64_t fingerprint() const;
  const Budget& budget() const { return budget_; }
  bool is_calm() const { return calm_since_.has_value(); }
  bool is_warm() const { return is_warm_; }
  MonoTime now() const { return timeline_.now(); }
  // The step in words, before it is taken.
  std::string describe(Step step) const;

  void durable(const std::vector<Event>& events, const ClusterState& state) override;
  void process_started(const std::string& node, const LaunchRank& order,
                       Duration lease_left) override;
  void process_ended(const std::string& node, const RankStatus& status) override;

  struct Server {
    std::unique_ptr<VirtualLoop> loop;
    std::unique_ptr<MemStore> store;
    std::unique_ptr<WireAgents> agents;
    std::unique_ptr<Controller> controller;
    MonoTime paused_at{};
    int starts = 0;
    bool is_paused() const { return loop != nullptr && loop->is_paused(); }
  };
  struct Node {
    MachineClock clock;
    std::unique_ptr<SimNode> machine;
    std::unique_ptr<VirtualLoop> loop;
    std::unique_ptr<SimHost> host;
    std::unique_ptr<WireLink> link;
    std::unique_ptr<WirePeers> peers;
    std::unique_ptr<SimRecordKeeper> keeper;
    std::unique_ptr<Agent> agent;
    MonoTime paused_at{};
    MonoTime cut_at{};
    MonoTime parted_at{};
    std::optional<MonoTime> safe_since;  // see must_live_on()
  };

 private:
  friend class WorldFingerprint;
  // A round of questions that begins at once, and the one before it.
  static constexpr Duration kNeedlessAfter = 2 * PeerVote::kRoundTime + 1s;

  void start_server(int index);
  void crash_server(int index);
  void start_agent(int index);
  void crash_agent(int index);
  void warm_up();
  void settle();
  void pass_time();
  void calm_down();
  void end_programs_that_run();
  const Controller* leader() const;
  const Job* job() const;
  bool is_choosable(const WireMessage& message) const;
  bool must_live_on(int index) const;
  void watch_fences();
  bool is_over() const;
  std::string stuck() const;
  bool is_overdue(MonoTime since, Duration most) const { return now() - since >= most; }
  bool must_act_first() const;
  void add_message_steps(std::vector<Step>& steps) const;
  void add_faults(std::vector<Step>& steps) const;
  void add_node_faults(std::vector<Step>& steps, int index) const;
  void add_server_faults(std::vector<Step>& steps, int index) const;
  void add_ends(std::vector<Step>& steps) const;
  void take_message_step(Step step);
  void take_node_step(Step step);
  void take_server_step(Step step);
  void fail(const std::string& what) { checkers_.fail(what); }
  void tell(const std::string& what) const {
    if (listener_ != nullptr) listener_->happened(now(), what);
  }

  const Model model_;
  Listener* const listener_;
  Timeline timeline_;
  Dice dice_;
  VirtualLoop loop_;
  MemDatabase database_;
  Checkers checkers_;
  Wire wire_;
  std::vector<Server> servers_;
  std::vector<std::unique_ptr<Node>> nodes_;
  Budget budget_;
  bool is_warm_ = false;
  Epoch newest_epoch_;
  std::optional<MonoTime> calm_since_;
};

}  // namespace hai
