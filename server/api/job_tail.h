#pragma once
// A job now and after each change, until it has ended. Changes that come faster than they are read
// are seen as one.

#include "server/api/queries.h"

namespace hai {

// On the loop's thread.
Source<JobView> tail_job(Queries& queries, Caller caller, std::string job);

}  // namespace hai
