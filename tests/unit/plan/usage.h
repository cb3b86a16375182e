#pragma once
// GPU time that people and jobs have had, made by real attempts.

#include "server/control/attempt/attempt_flow.h"
#include "server/plan/order.h"
#include "tests/support/builders.h"

namespace hai::test {

// The running job leaves as if asked, and is charged what it had.
inline void leave_charged(Cluster& c, JobId id) {
  c.decide_with([&](Decision& decision) {
    const Attempt attempt = c.attempt(id);
    for (int rank = 0; rank < static_cast<int>(attempt.ranks.size()); ++rank) {
      decision.emit(
          RankEnded{id, attempt.number, rank, RankState::exited, ExitCause::go_suspend, 0, ""});
    }
    settle_attempt(decision, id);
  });
}

// A job that ran alone on the node for so long and waits again.
inline JobId ran(Cluster& c, const JobBuilder& builder, const std::string& node, Duration time) {
  const JobId id = c.run(builder, {node});
  c.advance(time);
  leave_charged(c, id);
  return id;
}

// As `ran`, and is over: only its user's usage is left.
inline void used(Cluster& c, const std::string& user, const std::string& node, Duration time) {
  const JobId id = ran(c, job("past-of-" + user).user(user), node, time);
  c.finish(id, JobState::stopped);
}

inline Knobs fifo_knobs() {
  Knobs knobs;
  knobs.policy = Policy::fifo;
  return knobs;
}

}  // namespace hai::test
