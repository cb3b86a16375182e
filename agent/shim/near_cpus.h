#pragma once

#include <string>

namespace hai {

// This process and all that it starts run on these CPUs ("0-15,32-47"; "" = as it is). Best effort:
// where none of them may be used, a cpuset of the site's say, nothing changes.
void stay_on_cpus(const std::string& cpus);

}  // namespace hai
