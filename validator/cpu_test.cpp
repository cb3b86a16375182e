// Test "cpu": every CPU computes known results for the whole time; then the memory bandwidth.

#include <fmt/core.h>

#include <algorithm>
#include <mutex>

#include "validator/cpu_work.h"
#include "validator/cpus.h"
#include "validator/stopwatch.h"
#include "validator/test.h"
#include "validator/triad.h"

namespace hai::validator {

namespace {

struct CpuResult {
  int cpu = 0;
  int64_t pieces = 0;
  int64_t wrong = 0;
  uint64_t wrong_result = 0;
  int wrong_kind = 0;
  double seconds = 0;
  double gigaflops() const {
    return seconds > 0 ? static_cast<double>(pieces) * kCpuWorkFlops / seconds / 1e9 : 0;
  }
};

std::vector<CpuResult> stress(const std::vector<int>& cpus, Duration seconds) {
  std::vector<CpuResult> results(cpus.size());
  run_on_cpus(cpus, [&](size_t index, int cpu) {
    CpuResult result{.cpu = cpu};
    const Stopwatch watch;
    do {
      const int kind = static_cast<int>(result.pieces % kCpuWorkKinds);
      const uint64_t digest = do_cpu_work(kind);
      ++result.pieces;
      if (digest != expected_cpu_work(kind) && result.wrong++ == 0) {
        result.wrong_result = digest;
        result.wrong_kind = kind;
      }
    } while (!watch.is_over(seconds) || result.pieces < kCpuWorkKinds);
    result.seconds = watch.seconds();
    results[index] = result;
  });
  return results;
}

Measurement judge_results(const std::vector<CpuResult>& results) {
  Measurement all{.test = "cpu", .metric = "compute_rate", .unit = "GFLOP/s", .value = 0};
  int64_t pieces = 0;
  std::string wrong;
  for (const CpuResult& result : results) {
    *all.value += result.gigaflops();
    pieces += result.pieces;
    if (result.wrong == 0) continue;
    all.verdict = Verdict::fail;
    wrong += fmt::format("CPU {}: {} of {} results wrong, piece {} gave {:016x} not {:016x}; ",
                         result.cpu, result.wrong, result.pieces, result.wrong_kind,
                         result.wrong_result, expected_cpu_work(result.wrong_kind));
    if (wrong.size() > 1000) break;
  }
  all.detail = wrong.empty() ? fmt::format("{} CPUs, {} results right", results.size(), pieces)
                             : wrong.substr(0, wrong.size() - 2);
  return all;
}

Measurement slowest_cpu(const std::vector<CpuResult>& results) {
  const auto slowest =
      std::min_element(results.begin(), results.end(),
                       [](const auto& a, const auto& b) { return a.gigaflops() < b.gigaflops(); });
  return {.test = "cpu",
          .metric = "slowest_cpu",
          .unit = "GFLOP/s",
          .value = slowest->gigaflops(),
          .detail = fmt::format("CPU {}", slowest->cpu)};
}

Measurement memory_bandwidth(const Settings& settings, const std::vector<int>& cpus) {
  const int64_t bytes = settings.memory_bytes > 0
                            ? settings.memory_bytes
                            : triad_bytes(settings.sys_root, settings.proc_root, settings.is_quick);
  const TriadResult triad = run_triad(cpus, bytes, settings.seconds / 2);
  Measurement result{
      .test = "cpu",
      .metric = "memory_bandwidth",
      .unit = "GB/s",
      .value = triad.gigabytes_per_second,
      .detail = fmt::format("triad over {} MiB, best of {} passes", bytes >> 20, triad.passes)};
  if (triad.wrong_elements > 0) {
    result.verdict = Verdict::fail;
    result.detail = fmt::format("{} elements wrong; {}", triad.wrong_elements, triad.first_wrong);
  }
  return result;
}

}  // namespace

std::vector<Measurement> test_cpu(const Settings& settings) {
  const std::vector<int> cpus = usable_cpus(settings.cpus);
  const std::vector<CpuResult> results = stress(cpus, settings.seconds / 2);
  return {judge_results(results), slowest_cpu(results), memory_bandwidth(settings, cpus)};
}

}  // namespace hai::validator
