#pragma once
// Decides when a rank is told to end, and how; the shim carries it out. Pure: no processes, no
// clock of its own.
//
//   running ──suspend──▶ notified ──deadline──▶ terminating ──patience──▶ killing ──tree gone──▶
//   (the shim is done)
//      ▲                    │ continue             ▲                         ▲
//      └────────────────────┘                      kill, go_suspend          lease over, program
//      left processes behind
//
// The first reason to end is the cause that is reported; what comes later can only make the end
// come sooner.

#include <optional>
#include <string>

#include "common/agent_messages.h"
#include "common/time.h"

namespace hai {

inline constexpr Duration kKillPatience = 5s;       // between SIGTERM and SIGKILL
inline constexpr Duration kGoSuspendPatience = 1s;  // the program said itself that it is done
inline constexpr Duration kLeftoverPatience = 5s;   // for processes that outlive the program itself

// What to do now.
struct LifeOrders {
  bool signal_program = false;  // the job's suspend signal, to its main processes
  bool terminate_tree = false;  // SIGTERM to all
  bool kill_tree = false;       // SIGKILL to all
  bool operator==(const LifeOrders&) const = default;
};

class RankLife {
 public:
  explicit RankLife(MonoTime lease_until) : lease_until_(lease_until) {}

  LifeOrders suspend(Duration grace, MonoTime now);
  // The programs got a signal that asks them to save and end: until the deadline whatever ends,
  // ends because of it, and what a wrapper leaves behind has as long. To be called while the
  // request is there; taking the request back does not take the signal back.
  void was_told();
  void go_on();
  // The rank shall end: SIGTERM, after `patience` SIGKILL.
  LifeOrders end(ExitCause cause, std::string message, Duration patience, MonoTime now);
  // SIGKILL without patience: the rank may do nothing any more.
  LifeOrders end_at_once(ExitCause cause, std::string message, MonoTime now);
  void extend_lease(MonoTime until);
  // One main process ended. `is_last`: it was the only one left.
  LifeOrders program_exited(int exit_code, bool is_last, MonoTime now);

  // To be called when next_deadline() has come; harmless at other times.
  LifeOrders advance(MonoTime now);
  MonoTime next_deadline() const;

  bool is_suspend_requested() const { return suspend_deadline_.has_value(); }
  ExitCause cause() const { return cause_; }
  const std::string& message() const { return message_; }
  int exit_code() const { return exit_code_; }

 private:
  enum class Stage { running, leftovers, terminating, killing };
  LifeOrders kill_again(MonoTime now);
  bool is_told(MonoTime now) const { return told_until_ && now <= *told_until_; }
  void set_cause(ExitCause cause, std::string message);

  Stage stage_ = Stage::running;
  MonoTime lease_until_;
  std::optional<MonoTime> suspend_deadline_;
  std::optional<MonoTime> told_until_;
  MonoTime stage_deadline_{};  // of every stage but running
  Duration kill_interval_{0};
  ExitCause cause_ = ExitCause::none;
  std::string message_;
  int exit_code_ = 0;
};

}  // namespace hai
