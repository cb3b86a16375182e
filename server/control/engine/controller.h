#pragma once
// The only writer. Owned by main (or the simulator); everything here runs on the loop's thread.
//
// Leadership says whether this server decides, Turns when, Passes when it plans; here is what: the
// commands of people, the reports of agents, what time brings, and the answers to readers.

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "server/control/command.h"
#include "server/control/engine/leadership.h"
#include "server/control/engine/memory.h"
#include "server/control/engine/passes.h"
#include "server/control/engine/turns.h"
#include "server/control/engine/views.h"
#include "server/model/lemon_score.h"

namespace hai {

// What a fresh store is given so that somebody can use it.
struct Bootstrap {
  std::string admin_user;
  std::string admin_token_hash;
  Duration admin_token_ttl = 24h * 90;
  std::optional<int64_t>
      public_quota_nodes;  // for every level in every group; nullopt = leave quotas alone
};

class Controller : private TermOwner, private TurnOwner {
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
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  void start() { leadership_.start(); }
  // Gives leadership up; `done` when the lease is released. No other call after it.
  void stop(std::function<void()> done) { leadership_.stop(std::move(done)); }

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
  void agents_are_well() { memory_.sessions.heard_connected(loop_.now()); }

  Mode mode() const { return leadership_.mode(); }
  bool is_leading() const { return leadership_.is_leading(); }
  // Nothing that was durable is known to be missing from the state (lost_history.h).
  bool knows_history() const { return !memory_.history.lost(); }
  // Nothing new starts: something is missing, or the term has just begun and nodes are to report.
  bool is_listening() const { return passes_.is_listening(); }
  Standing standing() const { return leadership_.standing(); }
  // How long the store has not answered; 0 when it does.
  Duration store_unavailable() const { return leadership_.store_unavailable(); }
  Duration ahead_of_store() const { return leadership_.ahead_of_store(); }
  // The live state, for metrics, tests and checkers: may be ahead of what is durable.
  const ClusterState& state() const { return *memory_.state; }
  SoftFacts soft_facts() const {
    return {memory_.planner.get(), &memory_.progress, &memory_.sessions,
            loop_.wall_now(),      is_listening(),    lemon_person_max(knobs_.lemon_score)};
  }
  const ControllerStats& stats() const { return stats_; }
  size_t waiting_inputs() const { return turns_.waiting(); }
  const Knobs& knobs() const { return knobs_; }
  // As this server's config has them.
  const Knobs& config_knobs() const { return config_knobs_; }

 private:
  struct Reading;

  void take_state(StoredState stored) override;
  void term_began() override;
  void term_ended(const std::string& why) override;

  bool wants_turn() const override { return passes_.is_due(); }
  void begin_turn(Decision& decision) override;
  void end_turn(Decision& decision) override;
  void before_release() override { passes_.note_who_was_heard(); }
  bool may_leave(const TurnOrder& order) const override;
  void no_turn_follows() override;

  void arm_tick();
  bool store_hangs();
  void tick();
  void apply_bootstrap(Decision& decision);
  Result<CommandReply> decide_command(Decision& decision, const Caller& caller,
                                      const Command& command) const;
  Command completed(Command command) const;
  Status check_contact(const Command& command, const Actor& actor) const;
  void disbelieve(ConnectionId connection, const std::string& reason);
  bool hear(ConnectionId connection, const AgentReport& report);
  void take_report(Decision& decision, ConnectionId connection, const AgentReport& report);
  void answer_report(const Session& session, const AgentReport& report);
  void tell_peers(Session& session);
  void note_progress(const AgentReport& report);
  void note_events(std::span<const Event> events);
  void collect_orders();
  void follow_knobs();
  void answer(const Reading& reading) const;

  Loop& loop_;
  AgentPort& agents_;
  const Knobs config_knobs_;
  Knobs knobs_;  // with what was set while the cluster runs
  const Bootstrap bootstrap_;
  const std::string cluster_name_;
  ControllerStats stats_;
  Memory memory_;
  Leadership leadership_;
  Turns turns_;
  Passes passes_;

  bool bootstrapped_ = false;
  std::optional<MonoTime> last_tick_at_;
  int64_t turn_of_last_tick_ = 0;
  int hung_ticks_ = 0;
  std::set<NodeId> nodes_to_reconcile_;
  LoopTimer tick_timer_;
  LoopScope scope_;
};

}  // namespace hai
