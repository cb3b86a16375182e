#include "common/open_files.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

namespace hai {

long allow_many_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  const auto most = static_cast<rlim_t>(std::numeric_limits<long>::max());
  return static_cast<long>(std::min(limit.rlim_cur, most));
}

}  // namespace hai
