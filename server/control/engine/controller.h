#pragma once
// The only writer. Owned by main (or the simulator); everything here runs on the loop's thread.
//
//   standby ──acquired──▶ loading ──loaded──▶ leading ──append failed, lease lost──▶ standby
//
// One turn takes the waiting inputs, decides, plans, applies, and appends all events in one
// transaction. Replies and agent orders leave only when it is durable; while it is in flight the
// next inputs gather (group commit). Whatever the controller holds in memory can be thrown away at
// any time: the store and the agents' reports bring it back.

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/knobs.h"
#include "common/loop.h"
#include "server/control/command.h"
#include "server/control/decision.h"
#include "server/control/engine/steady_time.h"
#include "server/control/engine/views.h"
#include "server/control/nodes/lost_history.h"
#include "server/control/ports.h"
#include "server/control/sessions.h"
#include "server/plan/planner.h"

namespace hai {

// What a fresh store is given so that somebody can use it.
struct Bootstrap {
  std::string admin_user;
  std::string admin_token_hash;
  std::optional<int64_t>
      public_quota_nodes;  // for every level in every group; nullopt = leave quotas alone
};

struct ControllerStats {
  int64_t turns = 0;
  int64_t inputs = 0;
  int64_t events = 0;
  int64_t passes = 0;
  int64_t orders = 0;
  int64_t reports = 0;
  int64_t step_downs = 0;
  int64_t terms = 0;  // won
  Duration last_pass{0};
  Duration last_append{0};
  // Appends by how long they took: counts of those up to each of the bounds, the last one has none.
  static constexpr std::array kAppendBounds{1ms, 2ms, 5ms, 10ms, 20ms, 50ms, 100ms, 500ms, 2'000ms};
  std::array<int64_t, kAppendBounds.size() + 1> appends{};
  Duration appends_total{0};
  // Planning passes in the same way.
  static constexpr std::array kPassBounds{100us,    200us,     500us,    1'000us,
                                          2'000us,  5'000us,   10'000us, 20'000us,
                                          50'000us, 100'000us, 500'000us};
  std::array<int64_t, kPassBounds.size() + 1> pass_lengths{};
  Duration passes_total{0};
};

class Controller {
 public:
  using Mode = ServerMode;
  using Reply = std::function<void(Result<CommandReply>)>;
  struct ReadContext {
    const ClusterState& state;
    SoftFacts soft;
    const std::string& cluster;
    std::optional<UnixTime> stale_since = {};  // set: the store is away, this was durable then
  };

  Controller(Loop& loop, Store& store, AgentPort& agents, EventSink* sink, Knobs knobs,
             Bootstrap bootstrap, std::string cluster_name,
             std::unique_ptr<Planner> planner = make_planner());
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  void start();
  // Gives leadership up; `done` when the lease is released. No other call after it.
  void stop(std::function<void()> done);

  // Answered once durable, or with `unavailable` when this server does not lead (any more): then it
  // may or may not have been done, and asking again with the same request_id is safe.
  void submit(Caller caller, Command command, Reply reply);
  // Calls `read` with a state that is durable; with the last such state while the store is away; or
  // `refuse` when another server leads or nothing is known.
  void read(Caller caller, std::function<void(const ReadContext&, const Actor&)> read,
            std::function<void(Status)> refuse);

  // Agents' streams. Only a leading server takes them, and each name has one agent: the adapter
  // asks before it accepts a stream (agent_admission.h). One that is not admitted is closed.
  Status admit_agent(const std::string& node_name, const AgentIdentity& identity);
  void agent_connected(ConnectionId connection, const std::string& node_name,
                       const AgentIdentity& identity = {});
  void agent_report(ConnectionId connection, AgentReport report);
  void agent_disconnected(ConnectionId connection);
  // Stands for a heartbeat of every connected agent that says nothing new, without its cost: for
  // simulations of a year, in which that would be most of the work. Renews no lease.
  void agents_are_well() { sessions_.heard_connected(loop_.now()); }

  Mode mode() const { return mode_; }
  bool is_leading() const { return mode_ == Mode::leading; }
  // Nothing that was durable is known to be missing from the state (lost_history.h).
  bool knows_history() const { return !history_.lost(); }
  // Nothing new starts: something is missing, or the term has just begun and nodes are to report.
  bool is_listening() const { return !heard_all_ || !knows_history(); }
  const std::string& not_leading_reason() const { return not_leading_reason_; }
  Standing standing() const;
  // How long the store has not answered; 0 when it does.
  Duration store_unavailable() const;
  // The live state, for metrics, tests and checkers: may be ahead of what is durable.
  const ClusterState& state() const { return *state_; }
  SoftFacts soft_facts() const {
    return {planner_.get(), &progress_, &sessions_, loop_.wall_now(), is_listening()};
  }
  const ControllerStats& stats() const { return stats_; }
  // Of a full turn, what is taken of commands at the least.
  static int share_of_people(int batch_max);
  size_t waiting_inputs() const { return urgent_.size() + inbox_.size(); }
  const Knobs& knobs() const { return knobs_; }

 private:
  struct Input {
    std::function<void(Decision&)> decide;
    std::function<void(Status)> refuse;  // may be empty
  };
  static constexpr size_t kInboxMax = 200'000;  // of either kind
  struct Order {
    NodeId node;
    ConnectionId connection;
    OrderBody body;
  };
  struct PendingReply {
    std::function<void()> deliver;
    std::function<void(Status)> refuse;
  };
  // What leaves when the turn is durable.
  struct Effects {
    std::vector<PendingReply> replies;
    std::vector<Order> orders;
    std::vector<Event> events;
  };

  void try_acquire();
  void loaded(Result<StoredState> stored);
  void arm_renewal();
  void arm_tick();
  void acquired(const Term& term);
  void not_acquired(const Status& why);
  void step_down(const std::string& what, const Status& cause);
  Duration patience_with_store() const { return 2 * knobs_.server_lease; }
  bool store_hangs();
  void note_append(MonoTime started);
  void note_pass();
  void tick();

  void post_input(Input input);
  void post_urgent(std::function<void(Decision&)> decide);
  Input take_input(int taken);
  void pump();
  void run_turn();
  UnixTime decision_time() { return time_.at(loop_.wall_now(), loop_.now()); }
  void apply_bootstrap(Decision& decision);
  bool pass_is_due() const;
  Duration pass_gap() const;
  void note_who_was_heard();
  void run_pass(Decision& decision);
  void arm_plan_timer();
  void note_events(const std::vector<Event>& events);
  void collect_orders();
  AppendBatch make_batch();
  void append(AppendBatch batch, MonoTime started);
  void release_when_sure();
  void release();
  void refuse_all(const std::string& why);
  struct Reading;
  void answer(const Reading& reading) const;
  void begin_stale(UnixTime since);
  void end_stale();
  void tell_standing();
  void refuse(ConnectionId connection, const std::string& reason);
  void take_report(Decision& decision, ConnectionId connection, const AgentReport& report);
  Status check_contact(const Command& command, const Actor& actor) const;
  void tell_peers(Session& session);
  void note_progress(const AgentReport& report);

  Loop& loop_;
  Store& store_;
  AgentPort& agents_;
  EventSink* sink_;
  const Knobs knobs_;
  const Bootstrap bootstrap_;
  const std::string cluster_name_;

  Mode mode_ = Mode::standby;
  std::string not_leading_reason_ = "starting";
  ServerAddresses leader_;   // another one's
  UnixTime confirmed_at_{};  // the store last confirmed this server's term
  std::optional<MonoTime> store_away_since_;
  std::optional<UnixTime> stale_since_;
  Standing told_standing_;
  Term term_;
  LostHistory history_;
  SteadyTime time_;
  std::unique_ptr<ClusterState> state_ = std::make_unique<ClusterState>();
  Sessions sessions_;
  std::unique_ptr<Planner> planner_;
  std::map<JobId, int64_t> progress_;

  // Reports, broken streams and ticks; taken in before all that people ask for, however much that
  // is: a node whose heartbeat waits in a line of submits looks silent.
  std::deque<Input> urgent_;
  std::deque<Input> inbox_;
  bool append_in_flight_ = false;
  int64_t turn_of_last_tick_ = 0;
  int hung_ticks_ = 0;
  bool pump_posted_ = false;
  bool bootstrapped_ = false;
  bool heard_all_ = false;  // has_heard_all() in this term; asked before passes and before orders
  bool plan_wanted_ = false;
  std::optional<MonoTime> last_pass_at_;
  std::optional<MonoTime> last_tick_at_;
  std::set<NodeId> nodes_to_reconcile_;
  Effects effects_;
  ControllerStats stats_;

  TimerId tick_timer_ = 0;
  TimerId plan_timer_ = 0;
  TimerId renew_timer_ = 0;
  TimerId acquire_timer_ = 0;
  int64_t incarnation_ = 0;  // callbacks of an earlier term are ignored
  std::shared_ptr<Controller*> self_ =
      std::make_shared<Controller*>(this);  // emptied when destroyed
};

}  // namespace hai
