#pragma once
// Events from some point on, for ever. Each answer is a batch; an empty one after `idle` says that
// the stream is alive.

#include <memory>

#include "server/api/queries.h"

namespace hai {

class Loop;

struct EventTailRequest {
  std::string job;   // id or name, "" = any
  std::string node;  // "" = any
  std::vector<std::string> kinds;
  int64_t after_seq = 0;  // -1: only what comes from now on
  Duration idle = 15s;
};

// On the loop's thread.
Source<std::vector<EventView>> tail_events(Loop& loop, Queries& queries, Caller caller,
                                           EventTailRequest request);

}  // namespace hai
