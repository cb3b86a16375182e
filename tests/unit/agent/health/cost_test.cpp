// What looking costs: processor time of one run of each check on a recorded node, by its period.

#include <sys/resource.h>

#include <cstdlib>

#include "agent/health/node_checks.h"
#include "tests/unit/agent/health/health_testing.h"

namespace hai {
namespace {

// Of this process and of the children it has waited for.
double cpu_seconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  }
  return seconds;
}

TEST(Cost, all_checks_of_a_node_take_less_than_a_five_hundredth_of_a_core) {
  constexpr int kRuns = 100;
  TempFolder folder;
  folder.write("gpus", "count 8\ngpu * nvlinks 4\n");
  folder.write("kmsg", "");
  ::setenv("HAI_STUB_NVML", folder.path("gpus").c_str(), 1);
  NodeChecksOptions options;
  options.config.sys_root = kHealthData + "/node/sys";
  options.config.proc_root = kHealthData + "/node/proc";
  options.config.kmsg = folder.path("kmsg");
  options.config.nvml_library = HAI_STUB_NVML_LIBRARY;
  options.config.mounts = {"/"};
  const auto checks = make_node_checks(options);
  double share = 0;
  for (const auto& check : checks.value()) {
    const double before = cpu_seconds();
    for (int i = 0; i < kRuns; ++i) check->run(input_at(i * check->period()));
    const double each = (cpu_seconds() - before) / kRuns;
    const double period = static_cast<double>(check->period().count()) / 1e6;
    share += each / period;
    fmt::print("{:12} {:8.0f} us a run, every {:2.0f} s: {:.4f} %\n", check->name(), each * 1e6,
               period, 100 * each / period);
  }
  fmt::print("{:12} {:.4f} % of a core\n", "all", 100 * share);
#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // They cost more than what they watch.
  EXPECT_LT(share, 0.002);
#endif
}

}  // namespace
}  // namespace hai
