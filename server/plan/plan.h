#pragma once
// What one planning pass wants done. Pure data: the controller checks each item again before it
// makes it happen.

#include <map>
#include <string>
#include <vector>

#include "server/model/job.h"
#include "server/model/reason.h"

namespace hai {

struct StartItem {
  JobId job;
  Placement placement;
  Priority priority = Priority::low;  // effective level, never automatic
};

// Hold these GPUs for `job` and ask the victims to suspend.
struct ReserveItem {
  JobId job;
  Placement placement;
  Priority priority = Priority::low;
  std::vector<JobId> victims;
};

struct DropItem {
  JobId job;  // gives its reservation back
  std::string reason;
};

// Moves a job away without a beneficiary (its node is being drained).
struct SuspendItem {
  JobId job;
  std::string reason;
};

// A victim whose beneficiary went away before it answered: it may go on.
struct ContinueItem {
  JobId job;
  std::string reason;
};

struct Plan {
  std::vector<DropItem> drops;
  std::vector<ContinueItem> continues;
  std::vector<SuspendItem> suspends;
  std::vector<StartItem> starts;
  std::vector<ReserveItem> reserves;
  std::map<JobId, PendingReason> pending;  // one for every waiting job that is not started
};

}  // namespace hai
