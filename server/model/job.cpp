#include "server/model/job.h"

#include <algorithm>

#include "server/model/job_fields.h"

namespace hai {

int64_t Attempt::ran_seconds() const {
  if (!running_at || !ended_at) return 0;
  const Duration ran = std::max<Duration>(*ended_at - *running_at, Duration(0));
  return std::chrono::duration_cast<std::chrono::seconds>(ran).count();
}

bool Job::operator==(const Job& other) const { return equal_fields(*this, other); }

}  // namespace hai
