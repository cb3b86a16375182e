#include "agent/shim/rank_life.h"

#include <algorithm>

namespace hai {

namespace {

// SIGKILL is repeated, since a process may have been forked meanwhile; ever more rarely, since one
// that hangs in the kernel does not go any faster.
constexpr Duration kKillIntervalMin = 10ms;
constexpr Duration kKillIntervalMax = 1s;

}  // namespace

LifeOrders RankLife::suspend(Duration grace, MonoTime now) {
  if (suspend_deadline_) return {};
  suspend_deadline_ = now + std::max(grace, Duration(0));
  return {.signal_program = stage_ == Stage::running};
}

void RankLife::was_told() { told_until_ = suspend_deadline_; }

void RankLife::go_on() {
  if (stage_ == Stage::running) suspend_deadline_.reset();
}

LifeOrders RankLife::end(ExitCause cause, std::string message, Duration patience, MonoTime now) {
  if (stage_ == Stage::killing) return {};
  set_cause(cause, std::move(message));
  if (stage_ == Stage::terminating) {
    stage_deadline_ = std::min(stage_deadline_, now + patience);
    return {};
  }
  stage_deadline_ =
      stage_ == Stage::leftovers ? std::min(stage_deadline_, now + patience) : now + patience;
  stage_ = Stage::terminating;
  return {.terminate_tree = true};
}

LifeOrders RankLife::end_at_once(ExitCause cause, std::string message, MonoTime now) {
  if (stage_ == Stage::killing) return {};
  set_cause(cause, std::move(message));
  stage_ = Stage::killing;
  kill_interval_ = kKillIntervalMin;
  return kill_again(now);
}

void RankLife::extend_lease(MonoTime until) { lease_until_ = std::max(lease_until_, until); }

LifeOrders RankLife::program_exited(int exit_code, bool is_last, MonoTime now) {
  if (exit_code_ == 0) exit_code_ = exit_code;  // The first failure is the one to look at.
  // A process forked just when SIGTERM was sent has not got it: the tree is told once more.
  if (stage_ == Stage::terminating) return {.terminate_tree = is_last};
  if (stage_ != Stage::running) return {};
  const bool leaves = is_told(now);
  if (exit_code != 0 && !is_last && !leaves) {
    return end(ExitCause::program, "", kKillPatience, now);
  }
  if (!is_last) return {};
  stage_ = Stage::leftovers;
  stage_deadline_ = now + kLeftoverPatience;
  if (leaves) {
    set_cause(ExitCause::left, "");
    stage_deadline_ = std::max(stage_deadline_, *told_until_);
  } else {
    set_cause(ExitCause::program, "");
  }
  return {};
}

LifeOrders RankLife::advance(MonoTime now) {
  if (stage_ != Stage::killing && now >= lease_until_) {
    return end_at_once(ExitCause::fenced, "its lease ended: the node was cut off from the server",
                       now);
  }
  switch (stage_) {
    case Stage::running:
      if (!suspend_deadline_ || now < *suspend_deadline_) return {};
      return end(ExitCause::grace_over, "still running at the suspend deadline", kKillPatience,
                 now);
    case Stage::leftovers:
    case Stage::terminating:
      if (now < stage_deadline_) return {};
      stage_ = Stage::killing;
      kill_interval_ = kKillIntervalMin;
      return kill_again(now);
    case Stage::killing:
      if (now < stage_deadline_) return {};
      return kill_again(now);
  }
  return {};
}

MonoTime RankLife::next_deadline() const {
  switch (stage_) {
    case Stage::running:
      return suspend_deadline_ ? std::min(lease_until_, *suspend_deadline_) : lease_until_;
    case Stage::leftovers:
    case Stage::terminating:
      return std::min(lease_until_, stage_deadline_);
    case Stage::killing:
      return stage_deadline_;
  }
  return lease_until_;
}

LifeOrders RankLife::kill_again(MonoTime now) {
  stage_deadline_ = now + kill_interval_;
  kill_interval_ = std::min(kill_interval_ * 2, kKillIntervalMax);
  return {.kill_tree = true};
}

void RankLife::set_cause(ExitCause cause, std::string message) {
  if (cause_ != ExitCause::none) return;
  cause_ = cause;
  message_ = std::move(message);
}

}  // namespace hai
