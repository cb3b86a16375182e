#pragma once
// Small things that all CUDA programs here use. Included by .cu files only.

#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace hai::validator::gpus {

#define RETURN_IF_CUDA_ERROR(call)                                                \
  do {                                                                            \
    if (const cudaError_t code_ = (call); code_ != cudaSuccess)                   \
      return std::string(#call).substr(0, 60) + ": " + cudaGetErrorString(code_); \
  } while (false)

// A kernel on a grid of blocks of threads; those in which threads wait for each other are named,
// for the sake of tests that run them on a CPU.
#ifndef HAI_LAUNCH
#define HAI_LAUNCH(kernel, grid, threads, ...) kernel<<<grid, threads>>>(__VA_ARGS__)
#define HAI_LAUNCH_WITH_BARRIER(kernel, grid, threads, ...) kernel<<<grid, threads>>>(__VA_ARGS__)
#endif

__host__ __device__ inline uint64_t mixed(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 29;
  x *= 0xc4ceb9fe1a85ec53ull;
  return x ^ x >> 32;
}

class Timer {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Memory of the current GPU, freed with it.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept : memory_(other.memory_), bytes_(other.bytes_) {
    other.memory_ = nullptr;
  }
  Block& operator=(Block&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Block() {
    if (memory_ != nullptr) cudaFree(memory_);
  }
  bool allocate(size_t bytes) {
    if (cudaMalloc(&memory_, bytes) != cudaSuccess) {
      cudaGetLastError();  // Else the next call would report it.
      memory_ = nullptr;
      return false;
    }
    bytes_ = bytes;
    return true;
  }
  template <typename T>
  T* as() const {
    return static_cast<T*>(memory_);
  }
  size_t bytes() const { return bytes_; }

 private:
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

// Blocks of `bytes` each that take up `share` of what is free.
inline std::vector<Block> fill_memory(double share, size_t bytes) {
  size_t free_bytes = 0, all_bytes = 0;
  std::vector<Block> blocks;
  if (cudaMemGetInfo(&free_bytes, &all_bytes) != cudaSuccess) return blocks;
  size_t left = static_cast<size_t>(static_cast<double>(free_bytes) * share);
  while (left >= bytes) {
    Block block;
    if (!block.allocate(bytes)) break;
    blocks.push_back(std::move(block));
    left -= bytes;
  }
  return blocks;
}

}  // namespace hai::validator::gpus
