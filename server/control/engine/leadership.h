#pragma once
// Whether this server leads: it wins a term, keeps it, and gives it up. Owned by the controller,
// used on the loop's thread.
//
//   standby ──acquired──▶ loading ──loaded──▶ leading ──append failed, lease lost──▶ standby

#include <functional>
#include <optional>
#include <string>

#include "common/knobs.h"
#include "common/loop_scope.h"
#include "server/control/engine/controller_stats.h"
#include "server/control/nodes/lost_history.h"
#include "server/control/ports.h"

namespace hai {

// Who decides in a term.
class TermOwner {
 public:
  virtual ~TermOwner() = default;
  // All that is durable; nobody else changes it from here on.
  virtual void take_state(StoredState stored) = 0;
  virtual void term_began() = 0;
  // What is in memory may be ahead of the store; the next term loads it again.
  virtual void term_ended(const std::string& why) = 0;
};

class Leadership {
 public:
  Leadership(Loop& loop, Store& store, EventSink* sink, const Knobs& knobs, LostHistory& history,
             TermOwner& owner, ControllerStats& stats);

  void start() { try_acquire(); }
  // Gives leadership up; `done` when the lease is released. No other call after it.
  void stop(std::function<void()> done);
  // The term is over: `what` happened, because of `cause`. Asks for the next one.
  void step_down(const std::string& what, const Status& cause);
  // Calls `then` when this server leads beyond doubt: now, or when its lease has been confirmed.
  // Nothing leaves a server that can't be sure: a paused process must not speak for its old term.
  void when_sure(std::function<void()> then);

  ServerMode mode() const { return mode_; }
  bool is_leading() const { return mode_ == ServerMode::leading; }
  const Term& term() const { return term_; }
  // By how much this server's wall clock was at least ahead of the store's, which all servers
  // share, when the store last confirmed a term; less than 0: behind; 0: no difference is known.
  Duration ahead_of_store() const { return ahead_of_store_; }
  // Callbacks bound to it do nothing once the term has ended.
  const LoopScope& of_this_term() const { return term_scope_; }
  Standing standing() const;
  // Set: the store is away, and readers are shown what was durable then.
  const std::optional<UnixTime>& stale_since() const { return stale_since_; }
  // How long the store has not answered; 0 when it does.
  Duration store_unavailable() const;

 private:
  void try_acquire();
  void acquired(const Term& term);
  void not_acquired(const Status& why);
  void loaded(Result<StoredState> stored);
  void confirm(const Term& term);
  void compare_clocks(const Term& term);
  void arm_renewal();
  void ask_again_in(Duration pause);
  void tell_standing();

  Loop& loop_;
  Store& store_;
  EventSink* sink_;
  const Knobs& knobs_;
  LostHistory& history_;
  TermOwner& owner_;
  ControllerStats& stats_;

  ServerMode mode_ = ServerMode::standby;
  std::string not_leading_reason_ = "starting";
  ServerAddresses leader_;   // another one's
  UnixTime confirmed_at_{};  // the store last confirmed this server's term
  Duration ahead_of_store_{0};
  std::optional<MonoTime> store_away_since_;
  std::optional<UnixTime> stale_since_;
  Standing told_standing_;
  Term term_;

  LoopTimer renew_timer_;
  LoopTimer acquire_timer_;
  LoopScope term_scope_;
  LoopScope scope_;
};

}  // namespace hai
