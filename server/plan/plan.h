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
  bool is_jumper = false;             // one before it in the order waits on
};

// Hold these GPUs for `job` and ask the victims to suspend.
struct ReserveItem {
  JobId job;
  Placement placement;
  Priority priority = Priority::low;
  std::vector<JobId> victims;
  bool is_move = false;  // the victims find room elsewhere
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
  // Of jobs that this pass did something about; of all that wait if it was asked for them.
  std::map<JobId, PendingReason> pending;
  bool is_partial = false;  // its budget was used up: the next pass goes on
};

}  // namespace hai
