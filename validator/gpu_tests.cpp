// Tests "gpu_memory" and "gemm" on all GPUs at once, as a job would load them, and what they say
// together.

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>
#include <thread>

#include "validator/cuda/gpus.h"
#include "validator/test.h"

namespace hai::validator {

namespace {

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// The result of each GPU, or why there is nothing to test.
template <typename Result>
struct OfAll {
  std::vector<gpus::Gpu> gpus;
  std::vector<Result> results;
  std::vector<Measurement> instead;
};

template <typename Result>
OfAll<Result> on_all_gpus(std::string_view test, const std::function<Result(int)>& run) {
  OfAll<Result> all;
  const gpus::Found found = gpus::find();
  if (!found.error.empty()) all.instead = {failed({test, "slowest_gpu"}, found.error)};
  if (found.error.empty() && found.gpus.empty())
    all.instead = {skipped({test, "slowest_gpu"}, found.why_none)};
  if (!all.instead.empty()) return all;
  all.gpus = found.gpus;
  all.results.resize(found.gpus.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < found.gpus.size(); ++i)
    threads.emplace_back([&, i] { all.results[i] = run(found.gpus[i].index); });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < all.results.size(); ++i) {
    if (!all.results[i].error.empty())
      all.instead.push_back(
          failed({test, "slowest_gpu"},
                 fmt::format("GPU {}: {}", found.gpus[i].index, all.results[i].error)));
  }
  return all;
}

struct Slowest {
  double value = 0;
  int gpu = -1;
  void take(double rate, int index) {
    if (gpu >= 0 && rate >= value) return;
    value = rate;
    gpu = index;
  }
};

}  // namespace

std::vector<Measurement> test_gpu_memory(const Settings& settings) {
  const auto all = on_all_gpus<gpus::MemoryResult>("gpu_memory", [&](int gpu) {
    return gpus::test_memory(gpu, settings.gpu_memory_share, seconds_of(settings.seconds));
  });
  if (!all.instead.empty()) return all.instead;
  std::vector<Measurement> results;
  Slowest slowest;
  int64_t least = all.results[0].bytes;
  for (size_t i = 0; i < all.results.size(); ++i) {
    const gpus::MemoryResult& result = all.results[i];
    const int gpu = all.gpus[i].index;
    least = std::min(least, result.bytes);
    // Written and read once per pass.
    slowest.take(2.0 * static_cast<double>(result.bytes) * result.passes / result.seconds / 1e9,
                 gpu);
    if (result.wrong_words > 0)
      results.push_back(failed(
          {"gpu_memory", "results"},
          fmt::format("GPU {}: {} of {} words wrong in {} passes; at byte {:#x} "
                      "{:016x}, written {:016x}",
                      gpu, result.wrong_words, result.bytes / 8 * result.passes, result.passes,
                      result.first_wrong_at, result.first_wrong_got, result.first_wrong_expected)));
  }
  results.push_back(
      {.test = "gpu_memory",
       .metric = "slowest_gpu",
       .unit = "GB/s",
       .value = slowest.value,
       .verdict = results.empty() ? Verdict::ok : Verdict::fail,
       .detail = fmt::format("GPU {}; {} GPUs, each at least {} MiB, {} passes", slowest.gpu,
                             all.gpus.size(), least >> 20, all.results[0].passes)});
  return results;
}

std::vector<Measurement> test_gemm(const Settings& settings) {
  const int size = settings.is_quick ? 4096 : 8192;
  const double share = settings.gpu_memory_share / (settings.is_quick ? 8 : 1);
  const auto all = on_all_gpus<gpus::GemmResult>("gemm", [&](int gpu) {
    return gpus::run_gemm(gpu, share, seconds_of(settings.seconds), size);
  });
  if (!all.instead.empty()) return all.instead;
  std::vector<Measurement> results;
  std::map<std::string, std::map<uint64_t, std::vector<int>>> by_digest;  // of GPUs of one name
  Slowest slowest;
  for (size_t i = 0; i < all.results.size(); ++i) {
    const gpus::GemmResult& result = all.results[i];
    const int gpu = all.gpus[i].index;
    by_digest[all.gpus[i].name][result.digest].push_back(gpu);
    const double flops = 2.0 * size * size * size;
    slowest.take(flops * result.products / result.seconds / 1e12, gpu);
    if (result.unequal_products > 0)
      results.push_back(
          failed({"gemm", "results"}, fmt::format("GPU {}: {} of {} products differ from its first",
                                                  gpu, result.unequal_products, result.products)));
    if (result.wrong_samples > 0)
      results.push_back(
          failed({"gemm", "results"}, fmt::format("GPU {}: {} of 64 elements wrong; {}", gpu,
                                                  result.wrong_samples, result.first_wrong)));
  }
  for (const auto& [name, digests] : by_digest) {
    if (digests.size() < 2) continue;
    // Whoever is in the smaller camp is named; two that differ are both under suspicion.
    std::string text = fmt::format("{} differ in the same product:", name);
    for (const auto& [digest, members] : digests) {
      text += fmt::format(" {:016x} on GPU", digest);
      for (const int gpu : members) text += fmt::format(" {}", gpu);
    }
    results.push_back(failed({"gemm", "results"}, text));
  }
  results.push_back(
      {.test = "gemm",
       .metric = "slowest_gpu",
       .unit = "TFLOP/s",
       .value = slowest.value,
       .verdict = results.empty() ? Verdict::ok : Verdict::fail,
       .detail = fmt::format("GPU {}; {} GPUs, {} products of bf16 {}, digest {:016x}", slowest.gpu,
                             all.gpus.size(), all.results[0].products, all.results[0].size,
                             all.results[0].digest)});
  return results;
}

}  // namespace hai::validator
