// Every byte of a GPU's memory: written, read back and compared, with each bit once 0 and once 1.
#include <algorithm>

#include "validator/cuda/device.h"
#include "validator/cuda/gpus.h"

namespace hai::validator::gpus {

namespace {

constexpr size_t kBlockBytes = size_t{1} << 30;
constexpr size_t kSmallBlockBytes = size_t{32} << 20;  // for what is left beside the large ones
constexpr int kThreads = 256;
constexpr int kGrid = 4096;

struct Wrong {
  unsigned long long count;
  uint64_t at;
  uint64_t got;
  uint64_t expected;
};

// Two words that differ in their address differ in about half of their bits, so that a broken
// address line shows as well as a broken cell.
__device__ uint64_t pattern(uint64_t address, uint64_t seed, uint64_t inverted) {
  return mixed(address + seed) ^ inverted;
}

__global__ void write_pattern(uint64_t* words, size_t count, uint64_t first, uint64_t seed,
                              uint64_t inverted) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    words[i] = pattern(first + i, seed, inverted);
}

__global__ void check_pattern(const uint64_t* words, size_t count, uint64_t first, uint64_t seed,
                              uint64_t inverted, Wrong* wrong) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride) {
    const uint64_t got = words[i];
    const uint64_t expected = pattern(first + i, seed, inverted);
    if (got == expected) continue;
    if (atomicAdd(&wrong->count, 1ull) == 0) {
      wrong->at = (first + i) * sizeof(uint64_t);
      wrong->got = got;
      wrong->expected = expected;
    }
  }
}

std::string one_pass(const std::vector<Block>& blocks, int pass, Wrong* wrong) {
  const uint64_t seed = mixed(static_cast<uint64_t>(pass / 2) + 1);
  const uint64_t inverted = pass % 2 == 0 ? 0 : ~uint64_t{0};
  uint64_t first = 0;
  for (const Block& block : blocks) {
    const size_t words = block.bytes() / sizeof(uint64_t);
    HAI_LAUNCH(write_pattern, kGrid, kThreads, block.as<uint64_t>(), words, first, seed, inverted);
    first += words;
  }
  RETURN_IF_CUDA_ERROR(cudaGetLastError());
  // All is written before any is read, so that no cache can answer for the memory.
  first = 0;
  for (const Block& block : blocks) {
    const size_t words = block.bytes() / sizeof(uint64_t);
    HAI_LAUNCH(check_pattern, kGrid, kThreads, block.as<uint64_t>(), words, first, seed, inverted,
               wrong);
    first += words;
  }
  RETURN_IF_CUDA_ERROR(cudaGetLastError());
  RETURN_IF_CUDA_ERROR(cudaDeviceSynchronize());
  return {};
}

std::string run(int gpu, double share, double seconds, MemoryResult& result) {
  RETURN_IF_CUDA_ERROR(cudaSetDevice(gpu));
  Block wrong;
  if (!wrong.allocate(sizeof(Wrong))) return "no memory on the GPU";
  RETURN_IF_CUDA_ERROR(cudaMemset(wrong.as<void>(), 0, sizeof(Wrong)));
  std::vector<Block> blocks = fill_memory(share, kBlockBytes);
  // The share is of what was free at first: of the rest, less than a large block remains to take.
  const size_t rest_max = kBlockBytes / kSmallBlockBytes;
  std::vector<Block> rest = fill_memory(share, kSmallBlockBytes);
  if (rest.size() > rest_max) rest.erase(rest.begin() + rest_max, rest.end());
  std::move(rest.begin(), rest.end(), std::back_inserter(blocks));
  for (const Block& block : blocks) result.bytes += static_cast<int64_t>(block.bytes());
  if (blocks.empty()) return "no memory is free on the GPU";
  const Timer timer;
  for (; result.passes < 2 || timer.seconds() < seconds; ++result.passes) {
    const std::string error = one_pass(blocks, result.passes, wrong.as<Wrong>());
    if (!error.empty()) return error;
  }
  result.seconds = timer.seconds();
  Wrong seen{};
  RETURN_IF_CUDA_ERROR(cudaMemcpy(&seen, wrong.as<void>(), sizeof seen, cudaMemcpyDeviceToHost));
  result.wrong_words = seen.count;
  result.first_wrong_at = seen.at;
  result.first_wrong_got = seen.got;
  result.first_wrong_expected = seen.expected;
  return {};
}

}  // namespace

MemoryResult test_memory(int gpu, double share, double seconds) {
  MemoryResult result;
  result.error = run(gpu, share, seconds, result);
  return result;
}

}  // namespace hai::validator::gpus
