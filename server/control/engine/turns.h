#pragma once
// One turn takes the waiting inputs, decides, and appends all events in one transaction. Replies
// and agents' orders leave only when it is durable; while it is in flight the next inputs gather
// (group commit). Owned by the controller, used on the loop's thread.

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/control/engine/leadership.h"
#include "server/control/engine/memory.h"
#include "server/model/decision.h"

namespace hai {

struct TurnInput {
  std::function<void(Decision&)> decide;
  std::function<void(Status)> refuse;  // may be empty
};

// An order that leaves for an agent when its turn is durable.
struct TurnOrder {
  NodeId node;
  ConnectionId connection;
  OrderBody body;
};

// Who decides what else belongs to a turn.
class TurnOwner {
 public:
  virtual ~TurnOwner() = default;
  virtual bool wants_turn() const = 0;  // though no input waits
  virtual void begin_turn(Decision& decision) = 0;
  virtual void end_turn(Decision& decision) = 0;  // after the inputs
  virtual void before_release() = 0;
  virtual bool may_leave(const TurnOrder& order) const = 0;  // false: it is sent again if wanted
  virtual void no_turn_follows() = 0;
};

class Turns {
 public:
  Turns(Loop& loop, Store& store, AgentPort& agents, EventSink* sink, const Knobs& knobs,
        Leadership& leadership, Memory& memory, TurnOwner& owner, ControllerStats& stats);

  // Refused if this server does not lead, or too many wait.
  void post(TurnInput input);
  // Reports, broken streams and ticks; taken in before all that people ask for, however much that
  // is: a node whose heartbeat waits in a line of submits looks silent.
  void post_urgent(std::function<void(Decision&)> decide);
  // Runs the next turn from the loop, so that inputs of the same moment share it.
  void pump();

  // In a turn: what leaves when it is durable.
  void send(TurnOrder order) { effects_.orders.push_back(std::move(order)); }
  void reply(std::function<void()> deliver, std::function<void(Status)> refuse) {
    effects_.replies.push_back({std::move(deliver), std::move(refuse)});
  }
  const std::vector<TurnOrder>& orders() const { return effects_.orders; }

  // Everything that waits is refused: the term has ended.
  void end_term(const std::string& why);
  size_t waiting() const { return urgent_.size() + inbox_.size(); }
  bool is_appending() const { return append_in_flight_; }
  UnixTime decision_time() { return memory_.time.at(loop_.wall_now(), loop_.now()); }
  // Of a full turn, what is taken of commands at the least.
  static int share_of_people(int batch_max);
  // Whether a turn takes a further input. One may change thousands of jobs, or store a MiB, or walk
  // through all jobs for nothing: a turn of hundreds such would outlast the server's lease, or be
  // more than PostgreSQL takes in one request.
  static bool has_room(const Decision& decision, Duration taken, Duration server_lease);

 private:
  static constexpr size_t kInboxMax = 200'000;  // of either kind
  static constexpr size_t kEventsOfTurn = 10'000;
  static constexpr int64_t kTextBytesOfTurn = 4 << 20;  // of these events
  static constexpr int kLeaseShareOfTurn = 8;           // of the lease's time, one in so many
  struct PendingReply {
    std::function<void()> deliver;
    std::function<void(Status)> refuse;
  };
  struct Effects {
    std::vector<PendingReply> replies;
    std::vector<TurnOrder> orders;
    std::vector<Event> events;
  };

  void run();
  int take_inputs(Decision& decision);
  AppendBatch make_batch();
  void append(AppendBatch batch);
  void release();
  void send_now(const TurnOrder& order);

  Loop& loop_;
  Store& store_;
  AgentPort& agents_;
  EventSink* sink_;
  const Knobs& knobs_;
  Leadership& leadership_;
  Memory& memory_;
  TurnOwner& owner_;
  ControllerStats& stats_;

  std::deque<TurnInput> urgent_;
  std::deque<TurnInput> inbox_;
  bool append_in_flight_ = false;
  bool pump_posted_ = false;
  Effects effects_;
  LoopScope scope_;
};

}  // namespace hai
