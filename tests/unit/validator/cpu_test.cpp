#include <gtest/gtest.h>

#include "validator/cpu_work.h"
#include "validator/cpus.h"
#include "validator/test.h"
#include "validator/triad.h"

namespace hai::validator {
namespace {

// The numbers were also computed by an interpreter, one addition after the other.
TEST(ValidatorCpu, KnowsWhatItsWorkGives) {
  for (int kind = 0; kind < kCpuWorkKinds; ++kind) {
    EXPECT_EQ(do_cpu_work(kind), expected_cpu_work(kind)) << kind;
    EXPECT_NE(expected_cpu_work(kind), expected_cpu_work((kind + 1) % kCpuWorkKinds));
  }
}

TEST(ValidatorCpu, MeasuresEveryCpu) {
  const std::vector<Measurement> results =
      test_cpu({.seconds = 10ms, .cpus = 2, .memory_bytes = 3 << 20});
  ASSERT_EQ(results.size(), 3u);
  for (const Measurement& result : results) {
    EXPECT_EQ(result.verdict, Verdict::ok) << result.detail;
    EXPECT_GT(result.value.value_or(0), 0) << result.metric;
  }
  EXPECT_EQ(results[0].metric, "compute_rate");
  EXPECT_EQ(results[1].metric, "slowest_cpu");
  EXPECT_EQ(results[2].metric, "memory_bandwidth");
  EXPECT_LE(*results[1].value, *results[0].value);
}

TEST(ValidatorCpu, TriadIsRightForAnySize) {
  const std::vector<int> cpus = usable_cpus(0);
  for (const int64_t bytes : {int64_t{24}, int64_t{240}, int64_t{1 << 20}}) {
    const TriadResult triad = run_triad({cpus[0]}, bytes, 0s);
    EXPECT_EQ(triad.wrong_elements, 0) << triad.first_wrong;
    EXPECT_GE(triad.passes, 3);
  }
  EXPECT_EQ(run_triad({cpus[0]}, 23, 0s).passes, 0) << "not one element fits";
}

TEST(ValidatorCpu, FrequencyIsThatOfAComputer) {
#if defined(__x86_64__)
  const double gigahertz = measure_frequency_gigahertz();
  EXPECT_GT(gigahertz, 0.2);
  EXPECT_LT(gigahertz, 10);
#endif
}

}  // namespace
}  // namespace hai::validator
