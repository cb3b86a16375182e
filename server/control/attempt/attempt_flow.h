#pragma once
// How attempts end and what becomes of their jobs. Used by every decide_*.cpp that makes an attempt
// end.

#include "server/model/decision.h"

namespace hai {

// Makes the attempt end this way unless it is already ending; its ranks are killed by reconcile,
// and it has ended when the last one is gone (now, if all are).
void end_attempt(Decision& decision, JobId job, AttemptEnd end);

// Looks at the ranks of a live attempt: does their state end it, or complete its start? Call after
// any rank changed.
void settle_attempt(Decision& decision, JobId job);

}  // namespace hai
