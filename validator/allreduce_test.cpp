// Test "allreduce": between the GPUs of this node, then between the ranks of the job.

#include <fmt/core.h>

#include "validator/cuda/gpus.h"
#include "validator/rank_exchange.h"
#include "validator/test.h"

namespace hai::validator {

namespace {

Measurement between_gpus(const Settings& settings) {
  const gpus::Found found = gpus::find();
  if (!found.error.empty()) return failed({"allreduce", "gpus_bandwidth"}, found.error);
  if (found.gpus.empty()) return skipped({"allreduce", "gpus_bandwidth"}, found.why_none);
  if (found.gpus.size() < 2) return skipped({"allreduce", "gpus_bandwidth"}, "there is one GPU");
  std::vector<int> indices;
  for (const gpus::Gpu& gpu : found.gpus) indices.push_back(gpu.index);
  const int64_t bytes = int64_t{settings.is_quick ? 64 : 512} << 20;
  const gpus::AllReduceResult result =
      gpus::run_all_reduce(indices, bytes, std::chrono::duration<double>(settings.seconds).count());
  if (!result.error.empty()) return failed({"allreduce", "gpus_bandwidth"}, result.error);
  if (result.wrong_words > 0)
    return failed(
        {"allreduce", "gpus_bandwidth"},
        fmt::format("{} sums wrong, the first on GPU {}", result.wrong_words, result.wrong_gpu));
  const double count = static_cast<double>(indices.size());
  return {
      .test = "allreduce",
      .metric = "gpus_bandwidth",
      .unit = "GB/s",
      .value = static_cast<double>(bytes) * 2 * (count - 1) / count / result.best_seconds / 1e9,
      .detail = fmt::format("{} GPUs, {} of {} neighbours direct, best of {} rounds, every sum "
                            "right",
                            indices.size(), result.direct_pairs, indices.size(), result.rounds)};
}

}  // namespace

std::vector<Measurement> test_allreduce(const Settings& settings) {
  std::vector<Measurement> results = {between_gpus(settings)};
  for (Measurement& part : exchange_between_ranks(settings)) results.push_back(std::move(part));
  return results;
}

}  // namespace hai::validator
