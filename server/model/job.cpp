#include "server/model/job.h"

#include "server/model/job_fields.h"

namespace hai {

bool Job::operator==(const Job& other) const { return equal_fields(*this, other); }

}  // namespace hai
