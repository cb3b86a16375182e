#include "agent/shim/near_cpus.h"

#include <sched.h>

#include <cerrno>
#include <memory>

#include "agent/shim/complain.h"
#include "common/unique_fd.h"

namespace hai {

void stay_on_cpus(const std::vector<int>& cpus) {
  if (cpus.empty()) return;
  const int size = cpus.back() + 1;  // cpu_set_t ends at 1,024
  const auto release = [](cpu_set_t* set) { CPU_FREE(set); };
  const std::unique_ptr<cpu_set_t, decltype(release)> set(CPU_ALLOC(size), release);
  if (set == nullptr) return;
  const size_t bytes = CPU_ALLOC_SIZE(size);
  CPU_ZERO_S(bytes, set.get());
  for (int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), bytes, set.get());
  if (::sched_setaffinity(0, bytes, set.get()) != 0) {
    complain("cannot stay on the CPUs beside its GPUs: " + errno_text(errno));
  }
}

}  // namespace hai
