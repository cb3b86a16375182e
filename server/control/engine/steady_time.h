#pragma once
// The time that decisions go by: the wall clock's when the term began, and from then on the
// monotonic one's, drawn towards the wall clock's so slowly that it never stands still. A wall
// clock that jumps for hours must not end a quantum, a grace or a launch, nor keep one from ending.
// Pure.

#include "common/time.h"
#include "server/model/cluster_state.h"

namespace hai {

class SteadyTime {
 public:
  // `newest`: of what is stored. The clock of the leader before may have been ahead.
  void start(UnixTime wall, UnixTime newest, MonoTime now);
  // `now` never goes back.
  UnixTime at(UnixTime wall, MonoTime now);

 private:
  UnixTime time_{};
  MonoTime last_{};
};

// The latest moment of which the state says that something happened then.
UnixTime newest_time(const ClusterState& state);

}  // namespace hai
